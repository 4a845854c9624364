use std::time::Duration;

use futures_util::future::join;
use tokio_postgres::{Row, types::Type};
use tracing::Instrument;

use super::{
    PostgresError, PostgresSessions, PostgresStore,
    database::{Odd, Param, column},
    error::Failure,
    migrate::{SETTINGS, check_settings},
    read::{self, check_name},
    store::Claim,
};
use crate::session::{Compact, FORMAT, Header, Holder, StoredSession, ids, line};

/// A century, in milliseconds: dates have an end.
const LONGEST_LEASE: i64 = 100 * 365 * 24 * 60 * 60 * 1000;

/// How to open a session in Postgres.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    lease: Duration,
    owner: Option<String>,
    take_over: bool,
    instructions: Option<String>,
    tail_only: bool,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { lease: Duration::from_secs(30), owner: None, take_over: false, instructions: None, tail_only: false }
    }
}

impl PostgresOptions {
    /// The defaults: a lease of 30 seconds, no taking over of a session that is in use, no instructions.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long the session stays this owner's after its last sign of life; at least 100 milliseconds. A turn gives one
    /// with every append and three times per lease. The clock is the server's.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease.max(Duration::from_millis(100));
        self
    }

    /// Who opens it, for the messages that others get: by default the process and its host.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// Takes the session from an owner whose lease has not ended. That one can append nothing more, and its turn ends.
    #[must_use]
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// The system prompt for the header of a new session. A session that exists keeps its own.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Reads only what is needed to go on: of a compacted session, the entries from the tail of the newest compaction on. All of
    /// them by default, and where some are damaged.
    #[must_use]
    pub fn tail_only(mut self, tail_only: bool) -> Self {
        self.tail_only = tail_only;
        self
    }

    fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX).min(LONGEST_LEASE)
    }
}

/// An open session in Postgres.
#[derive(Debug)]
#[non_exhaustive]
pub struct OpenedPostgres {
    /// Where to append.
    pub store: PostgresStore,
    /// What was there already.
    pub session: StoredSession,
    /// Whether the session was made by this call.
    pub created: bool,
}

// The last two are the records that say from where on a compacted session is to be read. Each is the first of a range: with `=`
// the index of ids looks as good to a planner that does not know how many rows a session has, and all of them are gone through.
const LOOK: &str = "s.epoch, s.head_seq, s.owner, s.claim, s.fmt,
    coalesce(ceil(extract(epoch from s.lease_until - now()) * 1000), 0)::int8,
    (select body from insomnia_items where session_id = $1 and seq <= 0 and $2 order by seq limit 1),
    (select body from insomnia_items where session_id = $1 and seq >= s.live_compact_seq and $2 order by seq limit 1)
    from (select 1) one left join insomnia_sessions s on s.session_id = $1";

const MAKE: &str = "with made as (
    insert into insomnia_sessions (session_id, epoch, head_seq, owner, claim, lease_until, fmt)
    values ($1, 1, 0, $2, $3, now() + $4 * interval '1 millisecond', $5) on conflict do nothing returning session_id
) insert into insomnia_items (session_id, seq, epoch, item_id, kind, body)
    select session_id, 0, 1, 'header', 'header', $6 from made returning 1";

// the epoch was read while the lease was seen to be over, or someone wants it whatever the lease
const TAKE: &str = "update insomnia_sessions
    set epoch = epoch + 1, owner = $3, claim = $4, lease_until = now() + $5 * interval '1 millisecond'
    where session_id = $1 and epoch = $2 and (lease_until is null or lease_until < now() or $6)
    returning epoch, head_seq";

impl PostgresSessions {
    /// Opens the session of this name and makes it if absent. One owner at a time can append to it.
    ///
    /// # Errors
    /// See [`PostgresError`]; [`PostgresError::InUse`] while another owner's lease lasts. Nothing is changed then.
    pub async fn open(&self, name: &str, options: PostgresOptions) -> Result<OpenedPostgres, PostgresError> {
        check_name(name)?;
        self.migrate().await?;
        let owner =
            options.owner.clone().unwrap_or_else(|| Holder::this_process().to_string()).replace('\0', "\u{fffd}");
        // tells what this call did from what another one with the same owner did, should an answer be lost
        let claimant = Claimant { name: name.to_owned(), owner, nonce: ids::uuid(), lease: options.lease_ms() };
        let mut created = false;
        let (store, session) = loop {
            let Some(found) = self.look(name, options.tail_only).await? else {
                created = true;
                let made = self.clone().make(claimant.clone(), options.instructions.clone());
                let Some(store) = finished(made).await? else { continue };
                break (store, read::Early::read(self, name, None).await?.completed(0).await?);
            };
            if found.claim.as_ref() == Some(&claimant.nonce) {
                let store = self.store(&claimant, found.epoch, found.head);
                break (store, read::Early::read(self, name, found.tail()).await?.completed(found.head).await?);
            }
            created = false;
            if found.format > FORMAT {
                return Err(PostgresError::NewerFormat { session: name.to_owned(), found: found.format });
            }
            if found.left_ms > 0 && !options.take_over {
                let owner = found.owner.unwrap_or_else(|| "another process".to_owned());
                return Err(PostgresError::InUse { session: name.to_owned(), owner, left_ms: found.left_ms });
            }
            // read while the server waits for its disk
            let reading = read::Early::read(self, name, found.tail());
            let taking = finished(self.clone().take(claimant.clone(), found.epoch, options.take_over));
            let (taken, early) = join(taking, reading).await;
            if let Some((store, head)) = taken? {
                break (store, early?.completed(head).await?);
            }
        };
        Ok(OpenedPostgres { store, session, created })
    }

    /// None if someone else has made it, or an answer was lost.
    async fn make(
        self,
        claimant: Claimant,
        instructions: Option<String>,
    ) -> Result<Option<PostgresStore>, PostgresError> {
        let header = header_line(&Header::new(instructions));
        let fmt = format_number();
        let params: [Param<'_>; 6] = [
            (&claimant.name, Type::TEXT),
            (&claimant.owner, Type::TEXT),
            (&claimant.nonce, Type::TEXT),
            (&claimant.lease, Type::INT8),
            (&fmt, Type::INT4),
            (&header, Type::TEXT),
        ];
        let made = self.query("make a session", MAKE, &params).await?;
        Ok(made.first().map(|_| self.store(&claimant, 1, 0)))
    }

    /// The store, and the number of the last entry; none if someone else came first, or an answer was lost.
    async fn take(
        self,
        claimant: Claimant,
        epoch: i64,
        by_force: bool,
    ) -> Result<Option<(PostgresStore, i64)>, PostgresError> {
        let params: [Param<'_>; 6] = [
            (&claimant.name, Type::TEXT),
            (&epoch, Type::INT8),
            (&claimant.owner, Type::TEXT),
            (&claimant.nonce, Type::TEXT),
            (&claimant.lease, Type::INT8),
            (&by_force, Type::BOOL),
        ];
        let taken = self.query("take a session over", TAKE, &params).await?;
        let Some(row) = taken.first() else { return Ok(None) };
        let (epoch, head) = (column(row, 0)?, column(row, 1)?);
        Ok(Some((self.store(&claimant, epoch, head), head)))
    }

    fn store(&self, claimant: &Claimant, epoch: i64, head: i64) -> PostgresStore {
        let claim = Claim { session: claimant.name.clone(), epoch, lease: claimant.lease };
        PostgresStore::new(self.clone(), claim, head)
    }

    /// The session's row, once the server is known to keep what it acknowledges.
    async fn look(&self, name: &str, tail_only: bool) -> Result<Option<Found>, PostgresError> {
        let look = format!("select {SETTINGS}, {LOOK}");
        let rows = self.query("look for a session", &look, &[(&name, Type::TEXT), (&tail_only, Type::BOOL)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        check_settings(row)?;
        Ok(Found::of(row)?)
    }
}

/// Who wants a session.
#[derive(Clone)]
struct Claimant {
    name: String,
    owner: String,
    nonce: String,
    lease: i64,
}

/// Sees a statement through that makes someone a session's owner, also when nobody waits for it any more: the store is dropped
/// then, which gives the session up, where else it would be nobody's until the lease ends.
async fn finished<T: Send + 'static>(
    statement: impl Future<Output = Result<T, PostgresError>> + Send + 'static,
) -> Result<T, PostgresError> {
    match tokio::spawn(statement.in_current_span()).await {
        Ok(outcome) => outcome,
        Err(_) => Err(PostgresError::Connect(Failure::plain("the runtime is shutting down"))),
    }
}

/// A session's row as it was a moment ago.
struct Found {
    epoch: i64,
    head: i64,
    owner: Option<String>,
    claim: Option<String>,
    format: u32,
    left_ms: u64,
    header: Option<String>,
    compact: Option<String>,
}

impl Found {
    /// None if the session has no row.
    fn of(row: &Row) -> Result<Option<Self>, Odd> {
        let (Some(epoch), Some(head)) = (column(row, 2)?, column(row, 3)?) else { return Ok(None) };
        Ok(Some(Self {
            epoch,
            head,
            owner: column(row, 4)?,
            claim: column(row, 5)?,
            format: column::<Option<i32>>(row, 6)?.and_then(|format| u32::try_from(format).ok()).unwrap_or(0),
            left_ms: column::<Option<i64>>(row, 7)?.and_then(|left| u64::try_from(left).ok()).unwrap_or(0),
            header: column(row, 8)?,
            compact: column(row, 9)?,
        }))
    }

    /// The header and where the tail of the newest compaction begins, where that was asked for and there is one.
    fn tail(&self) -> Option<(String, u64)> {
        let compact = line::read_entry(self.compact.as_ref()?.as_bytes()).ok()?;
        Some((self.header.clone()?, Compact::read(&compact.entry)?.tail_from))
    }
}

/// The header as it stands in a session's file.
pub(super) fn header_line(header: &Header) -> String {
    let mut line = Vec::new();
    // its fields are numbers and texts, which all have a JSON form
    let _ = line::write_header(header, &mut line);
    String::from_utf8_lossy(&line).into_owned()
}

/// The format as the tables have it.
pub(super) fn format_number() -> i32 {
    i32::try_from(FORMAT).unwrap_or(i32::MAX)
}

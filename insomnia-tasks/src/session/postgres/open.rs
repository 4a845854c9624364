use std::time::Duration;

use futures_util::future::join;
use tokio_postgres::{Row, types::Type};

use super::{
    PostgresError, PostgresSessions, PostgresStore,
    database::Param,
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
        let nonce = ids::uuid();
        let lease = i64::try_from(options.lease.as_millis()).unwrap_or(i64::MAX).min(LONGEST_LEASE);
        let mut created = false;
        let (epoch, head, session) = loop {
            let Some(found) = self.look(name, options.tail_only).await? else {
                self.make(name, &owner, &nonce, lease, options.instructions.clone()).await?;
                created = true;
                continue;
            };
            if found.claim.as_ref() == Some(&nonce) {
                let session = read::Early::read(self, name, found.tail()).await?.completed(found.head).await?;
                break (found.epoch, found.head, session);
            }
            created = false;
            if found.format > FORMAT {
                return Err(PostgresError::NewerFormat { session: name.to_owned(), found: found.format });
            }
            if found.left_ms > 0 && !options.take_over {
                let owner = found.owner.unwrap_or_else(|| "another process".to_owned());
                return Err(PostgresError::InUse { session: name.to_owned(), owner, left_ms: found.left_ms });
            }
            let params: [Param<'_>; 6] = [
                (&name, Type::TEXT),
                (&found.epoch, Type::INT8),
                (&owner, Type::TEXT),
                (&nonce, Type::TEXT),
                (&lease, Type::INT8),
                (&options.take_over, Type::BOOL),
            ];
            // read while the server waits for its disk
            let reading = read::Early::read(self, name, found.tail());
            let (taken, early) = join(self.query("take a session over", TAKE, &params), reading).await;
            if let Some(row) = taken?.first() {
                let (epoch, head) = (row.get(0), row.get(1));
                break (epoch, head, early?.completed(head).await?);
            }
        };
        let store = PostgresStore::new(self.clone(), Claim { session: name.to_owned(), epoch, lease }, head);
        Ok(OpenedPostgres { store, session, created })
    }

    async fn make(
        &self,
        name: &str,
        owner: &str,
        nonce: &str,
        lease: i64,
        instructions: Option<String>,
    ) -> Result<(), PostgresError> {
        let header = header_line(&Header::new(instructions));
        let fmt = format_number();
        let params: [Param<'_>; 6] = [
            (&name, Type::TEXT),
            (&owner, Type::TEXT),
            (&nonce, Type::TEXT),
            (&lease, Type::INT8),
            (&fmt, Type::INT4),
            (&header, Type::TEXT),
        ];
        self.query("make a session", MAKE, &params).await.map(|_| ())
    }

    /// The session's row, once the server is known to keep what it acknowledges.
    async fn look(&self, name: &str, tail_only: bool) -> Result<Option<Found>, PostgresError> {
        let look = format!("select {SETTINGS}, {LOOK}");
        let rows = self.query("look for a session", &look, &[(&name, Type::TEXT), (&tail_only, Type::BOOL)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        check_settings(row)?;
        Ok(Found::of(row))
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
    fn of(row: &Row) -> Option<Self> {
        Some(Self {
            epoch: row.get::<_, Option<i64>>(2)?,
            head: row.get::<_, Option<i64>>(3)?,
            owner: row.get(4),
            claim: row.get(5),
            format: row.get::<_, Option<i32>>(6).and_then(|format| u32::try_from(format).ok()).unwrap_or(0),
            left_ms: row.get::<_, Option<i64>>(7).and_then(|left| u64::try_from(left).ok()).unwrap_or(0),
            header: row.get(8),
            compact: row.get(9),
        })
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

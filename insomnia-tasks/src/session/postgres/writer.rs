use std::{borrow::Cow, collections::HashSet, io};

use tokio_postgres::{Row, error::SqlState, types::Type};

use super::{
    PostgresError, PostgresSessions,
    database::{Odd, Param, column},
    error::{Failure, check_size},
    store::Claim,
};
use crate::session::{
    digest::Sha256,
    line,
    record::{Entry, EntryBody},
    storage::StorageError,
};

/// Appends as one owner of a session. Every statement names the owner's epoch, and an append where it must begin.
///
/// An append is one call of a function of the database, see `migrations/0002.sql` and `migrations/0003.sql`.
pub(super) struct Writer {
    sessions: PostgresSessions,
    claim: Claim,
    /// The number of the last entry that is known to be kept.
    head: i64,
    /// Who took the session over.
    fenced: Option<String>,
}

const APPEND: &str = "select insomnia_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

const APPEND_ONE: &str = "select insomnia_append_one($1, $2, $3, $4, $5, $6, $7, $8)";

const STATE: &str = "select s.epoch, s.head_seq, s.owner, array(
        select i.item_id from insomnia_items i where i.session_id = s.session_id and i.seq > $2 and i.seq <= s.head_seq
        order by i.seq limit $3
    ) from insomnia_sessions s where s.session_id = $1";

const RENEW: &str = "update insomnia_sessions set lease_until = now() + $3 * interval '1 millisecond'
    where session_id = $1 and epoch = $2 returning epoch";

const RELEASE: &str = "update insomnia_sessions set lease_until = null where session_id = $1 and epoch = $2";

/// About how many bytes of entries one statement carries; more are written in pieces.
const PIECE: usize = 64 * 1024 * 1024;

/// Entries by column.
#[derive(Default)]
struct Rows<'a> {
    seqs: Vec<i64>,
    ids: Vec<Cow<'a, str>>,
    kinds: Vec<String>,
    bodies: Vec<String>,
    /// The number of the last one.
    last: i64,
    compact: Option<i64>,
    rewound: Option<i64>,
}

/// The session's row, and the ids of the entries behind a number.
struct Found<'a> {
    epoch: i64,
    head: i64,
    owner: Option<&'a str>,
    ids: Vec<&'a str>,
}

impl<'a> Found<'a> {
    fn of(row: &'a Row) -> Result<Self, Odd> {
        Ok(Self { epoch: column(row, 0)?, head: column(row, 1)?, owner: column(row, 2)?, ids: column(row, 3)? })
    }
}

/// What came of an append.
enum Sent {
    Kept,
    /// The session's row is not as expected.
    Nothing,
    /// An entry with such an id or number is there.
    Clash(Failure),
}

/// How often an append looks for what became of it. Each look but the last finds something new.
const LOOKS: u32 = 10;

impl Writer {
    pub(super) fn new(sessions: PostgresSessions, claim: Claim, head: i64) -> Self {
        Self { sessions, claim, head, fenced: None }
    }

    /// Appends entries. Those with one of these ids take messages out of the inbox. Says how many of the entries, from the first
    /// on, are kept, and what kept the others from it.
    pub(super) async fn append(
        &mut self,
        batch: &[Entry],
        taken: &HashSet<String>,
    ) -> (usize, Result<(), StorageError>) {
        let outcome = self.append_rest(batch, taken).await;
        (self.kept(batch), outcome)
    }

    /// How many of these are known to be kept. An append that was dropped may have found that, and told nobody.
    fn kept(&self, batch: &[Entry]) -> usize {
        batch.iter().take_while(|entry| number(entry.seq) <= self.head).count()
    }

    async fn append_rest(&mut self, batch: &[Entry], taken: &HashSet<String>) -> Result<(), StorageError> {
        let mut looks = 0;
        loop {
            self.check_fence()?;
            let rest = batch.get(self.kept(batch)..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
            let rows = self.rows(rest)?;
            let sent = self.send(&rows, taken).await?;
            if let Sent::Kept = sent {
                self.head = rows.last;
                continue;
            }
            let found = self.resolve(&rows).await?;
            if let (0, Sent::Clash(clash)) = (found, sent) {
                let detail = format!("it holds an entry with the id or number of one of these: {clash}");
                return Err(StorageError::OtherWriter { target: self.target(), detail });
            }
            looks += 1;
            if looks == LOOKS {
                let detail = "its row changes without end".to_owned();
                return Err(StorageError::OtherWriter { target: self.target(), detail });
            }
        }
    }

    /// The first of these entries, as many as one statement takes.
    fn rows<'a>(&self, entries: &'a [Entry]) -> Result<Rows<'a>, StorageError> {
        let mut rows = Rows { last: self.head, ..Rows::default() };
        let mut bytes = 0;
        for entry in entries {
            let mut line = Vec::new();
            line::write_entry(entry, None, None, &mut line)
                .map_err(|source| StorageError::Entry { seq: entry.seq, source })?;
            bytes += line.len();
            if bytes > PIECE && !rows.seqs.is_empty() {
                break;
            }
            check_size(|| format!("entry {}", entry.seq), line.len())
                .map_err(|error| self.error("append to", error))?;
            rows.last = number(entry.seq);
            rows.seqs.push(rows.last);
            rows.ids.push(item_id(entry));
            rows.kinds.push(kind(entry));
            rows.bodies.push(String::from_utf8_lossy(&line).into_owned());
        }
        (rows.compact, rows.rewound) = live_compact(entries.get(..rows.seqs.len()).unwrap_or_default());
        Ok(rows)
    }

    async fn send(&self, rows: &Rows<'_>, taken: &HashSet<String>) -> Result<Sent, StorageError> {
        let taken: Vec<&str> = rows.ids.iter().map(AsRef::as_ref).filter(|id| taken.contains(*id)).collect();
        let common: [Param<'_>; 5] = [
            (&self.claim.session, Type::TEXT),
            (&self.claim.epoch, Type::INT8),
            (&self.head, Type::INT8),
            (&rows.last, Type::INT8),
            (&self.claim.lease, Type::INT8),
        ];
        let plain = rows.compact.is_none() && rows.rewound.is_none() && taken.is_empty();
        let answer = match (&rows.ids[..], &rows.kinds[..], &rows.bodies[..]) {
            ([id], [kind], [body]) if plain => {
                let one: [Param<'_>; 3] = [(id, Type::TEXT), (kind, Type::TEXT), (body, Type::TEXT)];
                self.sessions.query("append", APPEND_ONE, &[&common[..], &one].concat()).await
            }
            (ids, kinds, bodies) => {
                let many: [Param<'_>; 7] = [
                    (&rows.seqs, Type::INT8_ARRAY),
                    (&ids, Type::TEXT_ARRAY),
                    (&kinds, Type::TEXT_ARRAY),
                    (&bodies, Type::TEXT_ARRAY),
                    (&rows.compact, Type::INT8),
                    (&rows.rewound, Type::INT8),
                    (&taken, Type::TEXT_ARRAY),
                ];
                self.sessions.query("append", APPEND, &[&common[..], &many].concat()).await
            }
        };
        match answer {
            // whatever else it says, what is in the tables decides
            Ok(answer) => match answer.first().map(|row| column(row, 0)) {
                Some(Ok(true)) => Ok(Sent::Kept),
                _ => Ok(Sent::Nothing),
            },
            Err(PostgresError::Refused { source, .. })
                if source.sql_state() == Some(SqlState::UNIQUE_VIOLATION.code()) =>
            {
                Ok(Sent::Clash(source))
            }
            Err(error) => Err(self.error("append to", error)),
        }
    }

    /// Finds out why nothing was appended: these entries were, and the answer was lost, or another owner is there. Says how many
    /// of them, from the first on, were found to be kept.
    async fn resolve(&mut self, sent: &Rows<'_>) -> Result<usize, StorageError> {
        let most = i64::try_from(sent.ids.len()).unwrap_or(i64::MAX);
        let params: [Param<'_>; 3] = [(&self.claim.session, Type::TEXT), (&self.head, Type::INT8), (&most, Type::INT8)];
        let rows = self.sessions.query("look for what was appended", STATE, &params).await;
        let rows = rows.map_err(|error| self.error("append to", error))?;
        let Some(row) = rows.first() else {
            let detail = "it is no longer in the database".to_owned();
            return Err(StorageError::Failed { target: self.target(), detail });
        };
        let Found { epoch, head, owner, ids } = Found::of(row).map_err(|odd| self.error("append to", odd.into()))?;
        let found = sent.ids.iter().zip(ids).take_while(|(sent, found)| sent.as_ref() == *found).count();
        if let Some(last) = found.checked_sub(1).and_then(|index| sent.seqs.get(index)) {
            self.head = *last;
        }
        if epoch != self.claim.epoch {
            self.fenced = Some(owner.unwrap_or("another process").to_owned());
        } else if head != self.head {
            // also where a server took over that does not have what the one before it acknowledged
            let detail = format!("it has {head} entries in place of {}", self.head);
            return Err(StorageError::OtherWriter { target: self.target(), detail });
        }
        self.check_fence()?;
        Ok(found)
    }

    /// Gives a sign of life.
    pub(super) async fn renew(&mut self) -> Result<(), StorageError> {
        self.check_fence()?;
        let params: [Param<'_>; 3] =
            [(&self.claim.session, Type::TEXT), (&self.claim.epoch, Type::INT8), (&self.claim.lease, Type::INT8)];
        let rows = self.sessions.query("renew the lease", RENEW, &params).await;
        if rows.map_err(|error| self.error("renew the lease of", error))?.is_empty() {
            self.resolve(&Rows::default()).await?;
        }
        Ok(())
    }

    /// Ends the lease, unless it is another's by now.
    pub(super) async fn release(&mut self) -> Result<(), StorageError> {
        let params: [Param<'_>; 2] = [(&self.claim.session, Type::TEXT), (&self.claim.epoch, Type::INT8)];
        let released = self.sessions.query("release the session", RELEASE, &params).await;
        released.map(|_| ()).map_err(|error| self.error("release", error))
    }

    pub(super) fn check_fence(&self) -> Result<(), StorageError> {
        match &self.fenced {
            Some(by) => Err(StorageError::Fenced { target: self.target(), by: by.clone() }),
            None => Ok(()),
        }
    }

    fn error(&self, action: &'static str, error: PostgresError) -> StorageError {
        storage_error(action, &self.claim.session, error)
    }

    fn target(&self) -> String {
        target(&self.claim.session)
    }
}

fn target(session: &str) -> String {
    format!("session {session}")
}

/// The database's error as that of a storage.
pub(super) fn storage_error(action: &'static str, session: &str, error: PostgresError) -> StorageError {
    let target = target(session);
    let state = match &error {
        PostgresError::Refused { source, .. } => source.sql_state(),
        _ => None,
    };
    if state == Some(SqlState::DISK_FULL.code()) {
        return StorageError::Full { target, source: io::Error::other(error) };
    }
    StorageError::Io { action, target, source: io::Error::other(error) }
}

pub(super) fn number(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// The entry's id in the tables, where each must have one, of a length that an index takes, and without NUL.
pub(super) fn item_id(entry: &Entry) -> Cow<'_, str> {
    match entry.id.as_str() {
        "" => format!("#{}", entry.seq).into(),
        odd if odd.len() > LONGEST_ID || odd.contains('\0') => format!("sha256:{}", Sha256::of(odd)).into(),
        id => id.into(),
    }
}

/// In bytes. An index takes some more.
const LONGEST_ID: usize = 1_000;

/// The newest compaction among these entries that none of them makes void, and how far back they make others void.
pub(super) fn live_compact(entries: &[Entry]) -> (Option<i64>, Option<i64>) {
    let (mut compact, mut rewound) = (None, None::<u64>);
    for entry in entries {
        match entry.body {
            EntryBody::Compact(_) => compact = Some(entry.seq),
            EntryBody::Rewind { to_seq } => {
                compact = compact.filter(|seq| *seq <= to_seq);
                rewound = Some(rewound.map_or(to_seq, |before| before.min(to_seq)));
            }
            _ => {}
        }
    }
    (compact.map(number), rewound.map(number))
}

/// The word by which entries can be told apart in SQL: the kind of an item, else that of the record.
pub(super) fn kind(entry: &Entry) -> String {
    match &entry.body {
        EntryBody::Item(item) => word(&item.kind()),
        EntryBody::TaskEdit(_) => "task_edit".to_owned(),
        EntryBody::Instructions(_) => "instructions".to_owned(),
        EntryBody::Dialect(_) => "dialect".to_owned(),
        EntryBody::Compact(_) => "compact".to_owned(),
        EntryBody::Rewind { .. } => "rewind".to_owned(),
        EntryBody::Unknown(_) => "unknown".to_owned(),
    }
}

fn word(kind: &impl serde::Serialize) -> String {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "item".to_owned(),
    }
}

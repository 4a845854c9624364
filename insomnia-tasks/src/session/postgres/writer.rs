use std::{borrow::Cow, io};

use tokio_postgres::{error::SqlState, types::Type};

use super::{PostgresError, PostgresSessions, error::Failure, store::Claim};
use crate::session::{
    digest::Sha256,
    line,
    record::{Entry, EntryBody},
    storage::StorageError,
};

/// Appends as one owner of a session. Every statement names the owner's epoch, and an append where it must begin.
///
/// An append is one call of a function of the database, see `migrations/0002.sql`.
pub(super) struct Writer {
    sessions: PostgresSessions,
    claim: Claim,
    /// The number of the last entry that is known to be kept.
    head: i64,
    /// Who took the session over.
    fenced: Option<String>,
}

const APPEND: &str = "select insomnia_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

const STATE: &str = "select s.epoch, s.head_seq, s.owner, array(
        select i.item_id from insomnia_items i where i.session_id = s.session_id and i.seq > $2 and i.seq <= s.head_seq
        order by i.seq limit $3
    ) from insomnia_sessions s where s.session_id = $1";

const RENEW: &str = "update insomnia_sessions set lease_until = now() + $3 * interval '1 millisecond'
    where session_id = $1 and epoch = $2 returning epoch";

const RELEASE: &str = "update insomnia_sessions set lease_until = null where session_id = $1 and epoch = $2";

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

    /// Appends entries, which take these messages out of the inbox. Says how many of the entries, from the first on, are
    /// kept, and what kept the others from it.
    pub(super) async fn append(&mut self, batch: &[Entry], taken: &[String]) -> (usize, Result<(), StorageError>) {
        let outcome = self.append_rest(batch, taken).await;
        (self.kept(batch), outcome)
    }

    /// How many of these are known to be kept. An append that was dropped may have found that, and told nobody.
    fn kept(&self, batch: &[Entry]) -> usize {
        batch.iter().take_while(|entry| number(entry.seq) <= self.head).count()
    }

    async fn append_rest(&mut self, batch: &[Entry], taken: &[String]) -> Result<(), StorageError> {
        for _ in 0..LOOKS {
            self.check_fence()?;
            let rest = batch.get(self.kept(batch)..).unwrap_or_default();
            let Some(last) = rest.last() else { return Ok(()) };
            let sent = self.send(rest, taken).await?;
            if let Sent::Kept = sent {
                self.head = number(last.seq);
                return Ok(());
            }
            let found = self.resolve(rest).await?;
            if let (0, Sent::Clash(clash)) = (found, sent) {
                let detail = format!("it holds an entry with the id or number of one of these: {clash}");
                return Err(StorageError::OtherWriter { target: self.target(), detail });
            }
        }
        let detail = "its row changes without end".to_owned();
        Err(StorageError::OtherWriter { target: self.target(), detail })
    }

    async fn send(&self, batch: &[Entry], taken: &[String]) -> Result<Sent, StorageError> {
        let (mut seqs, mut ids, mut kinds, mut bodies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for entry in batch {
            let mut line = Vec::new();
            line::write_entry(entry, None, None, &mut line)
                .map_err(|source| StorageError::Entry { seq: entry.seq, source })?;
            seqs.push(number(entry.seq));
            ids.push(item_id(entry));
            kinds.push(kind(entry));
            bodies.push(String::from_utf8_lossy(&line).into_owned());
        }
        let last = seqs.last().copied().unwrap_or(self.head);
        let (compact, rewound) = live_compact(batch);
        let params: [super::database::Param<'_>; 12] = [
            (&self.claim.session, Type::TEXT),
            (&self.claim.epoch, Type::INT8),
            (&self.head, Type::INT8),
            (&last, Type::INT8),
            (&self.claim.lease, Type::INT8),
            (&seqs, Type::INT8_ARRAY),
            (&ids, Type::TEXT_ARRAY),
            (&kinds, Type::TEXT_ARRAY),
            (&bodies, Type::TEXT_ARRAY),
            (&compact, Type::INT8),
            (&rewound, Type::INT8),
            (&taken, Type::TEXT_ARRAY),
        ];
        match self.sessions.query("append", APPEND, &params).await {
            Ok(rows) if rows.iter().any(|row| row.get(0)) => Ok(Sent::Kept),
            Ok(_) => Ok(Sent::Nothing),
            Err(PostgresError::Refused { source, .. })
                if source.sql_state() == Some(SqlState::UNIQUE_VIOLATION.code()) =>
            {
                Ok(Sent::Clash(source))
            }
            Err(error) => Err(self.error("append to", error)),
        }
    }

    /// Finds out why nothing was appended: these entries were, and the answer was lost, or another owner is there. Says
    /// how many of them, from the first on, were found to be kept.
    async fn resolve(&mut self, batch: &[Entry]) -> Result<usize, StorageError> {
        let most = i64::try_from(batch.len()).unwrap_or(i64::MAX);
        let params: [super::database::Param<'_>; 3] =
            [(&self.claim.session, Type::TEXT), (&self.head, Type::INT8), (&most, Type::INT8)];
        let rows = self.sessions.query("look for what was appended", STATE, &params).await;
        let rows = rows.map_err(|error| self.error("append to", error))?;
        let Some(row) = rows.first() else {
            let detail = "it is no longer in the database".to_owned();
            return Err(StorageError::Failed { target: self.target(), detail });
        };
        let (epoch, head): (i64, i64) = (row.get(0), row.get(1));
        let there: Vec<&str> = row.get(3);
        let found = batch.iter().zip(&there).take_while(|(entry, id)| item_id(entry) == **id).count();
        if let Some(last) = found.checked_sub(1).and_then(|index| batch.get(index)) {
            self.head = number(last.seq);
        }
        if epoch != self.claim.epoch {
            self.fenced = Some(owner(row.get(2)));
        } else if found < there.len() {
            let detail = format!("it has {head} entries in place of {}", self.head);
            return Err(StorageError::OtherWriter { target: self.target(), detail });
        }
        self.check_fence()?;
        Ok(found)
    }

    /// Gives a sign of life.
    pub(super) async fn renew(&mut self) -> Result<(), StorageError> {
        self.check_fence()?;
        let params: [super::database::Param<'_>; 3] =
            [(&self.claim.session, Type::TEXT), (&self.claim.epoch, Type::INT8), (&self.claim.lease, Type::INT8)];
        let rows = self.sessions.query("renew the lease", RENEW, &params).await;
        if rows.map_err(|error| self.error("renew the lease of", error))?.is_empty() {
            self.resolve(&[]).await?;
        }
        Ok(())
    }

    /// Ends the lease, unless it is another's by now.
    pub(super) async fn release(&mut self) -> Result<(), StorageError> {
        let params: [super::database::Param<'_>; 2] =
            [(&self.claim.session, Type::TEXT), (&self.claim.epoch, Type::INT8)];
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

fn owner(noted: Option<String>) -> String {
    noted.unwrap_or_else(|| "another process".to_owned())
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

use std::pin::pin;

use futures_util::TryStreamExt;
use tokio_postgres::types::Type;

use super::{PostgresError, PostgresSessions, database::Trouble};
use crate::session::{
    Damage, RecordError, Session, StoredSession,
    line::{self, Batch, HeaderLine},
};

/// A session as the list of a database shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// Its name.
    pub name: String,
    /// How many entries it has.
    pub entries: u64,
    /// When it was made, in milliseconds since 1970.
    pub created: u64,
    /// When it was last appended to, in milliseconds since 1970.
    pub updated: u64,
    /// Who has it open; none if nobody has, or the lease has ended.
    pub owner: Option<String>,
    /// The name of the session that it was forked from.
    pub parent: Option<String>,
}

const LIST: &str = "select session_id, head_seq, (extract(epoch from created) * 1000)::int8,
    (extract(epoch from updated) * 1000)::int8, case when lease_until > now() then owner end, parent
    from insomnia_sessions where session_id > $1 order by session_id limit $2";

const LINES: &str = "select seq, body from insomnia_items where session_id = $1 order by seq";

/// The largest number of sessions that one call lists.
const MOST_LISTED: u32 = 10_000;

impl PostgresSessions {
    /// The sessions whose names come after `after`, by name (in the order of bytes), at most `limit` of them and at most
    /// 10,000. Start with an empty `after`, go on with the last name.
    ///
    /// # Errors
    /// See [`PostgresError`].
    pub async fn list(&self, after: &str, limit: u32) -> Result<Vec<SessionInfo>, PostgresError> {
        self.migrate().await?;
        let limit = i64::from(limit.min(MOST_LISTED));
        let rows = self.query("list the sessions", LIST, &[(&after, Type::TEXT), (&limit, Type::INT8)]).await?;
        let number = |number: i64| u64::try_from(number).unwrap_or(0);
        let info = |row: &tokio_postgres::Row| SessionInfo {
            name: row.get(0),
            entries: number(row.get(1)),
            created: number(row.get(2)),
            updated: number(row.get(3)),
            owner: row.get(4),
            parent: row.get(5),
        };
        Ok(rows.iter().map(info).collect())
    }

    /// Reads a session as it is now, without opening it; it may be in use. What is read is a prefix of what is kept.
    ///
    /// # Errors
    /// See [`PostgresError`]; [`PostgresError::Missing`] if there is no such session.
    pub async fn read(&self, name: &str) -> Result<Session, PostgresError> {
        self.read_records(name).await.map(|stored| Session::fold_stored(&stored))
    }

    /// Like [`read`](Self::read), but the records themselves.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub async fn read_records(&self, name: &str) -> Result<StoredSession, PostgresError> {
        check_name(name)?;
        self.migrate().await?;
        stored(self, name).await
    }

    /// The lines of a session with their numbers, from that of the header on.
    pub(super) async fn lines(&self, name: &str) -> Result<Vec<(u64, String)>, PostgresError> {
        let mut again = 0;
        loop {
            match self.lines_once(name).await {
                Ok(lines) if lines.is_empty() => {
                    return Err(PostgresError::Missing { session: name.to_owned() });
                }
                Ok(lines) => return Ok(lines),
                Err(Trouble::Lost(_) | Trouble::Conflict(_)) if again < 3 => again += 1,
                Err(trouble) => return Err(trouble.into_error("read a session")),
            }
        }
    }

    async fn lines_once(&self, name: &str) -> Result<Vec<(u64, String)>, Trouble> {
        let client = self.client().await?;
        let name: &(dyn tokio_postgres::types::ToSql + Sync) = &name;
        let rows = client.query_typed_raw(LINES, [(name, Type::TEXT)]).await.map_err(|error| Trouble::of(&error))?;
        let mut rows = pin!(rows);
        let mut lines = Vec::new();
        while let Some(row) = rows.try_next().await.map_err(|error| Trouble::of(&error))? {
            lines.push((u64::try_from(row.get::<_, i64>(0)).unwrap_or(0), row.get(1)));
        }
        Ok(lines)
    }
}

/// Reads all records of a session.
pub(super) async fn stored(sessions: &PostgresSessions, name: &str) -> Result<StoredSession, PostgresError> {
    stored_batches(sessions, name).await.map(|(stored, _)| stored)
}

/// Like [`stored`], with the batch that a file had each entry in, if it came from one.
pub(super) async fn stored_batches(
    sessions: &PostgresSessions,
    name: &str,
) -> Result<(StoredSession, Vec<Option<Batch>>), PostgresError> {
    let lines = sessions.lines(name).await?;
    let damaged = |source| PostgresError::DamagedHeader { session: name.to_owned(), source };
    let mut lines = lines.into_iter();
    let (_, first) = lines
        .next()
        .filter(|(seq, _)| *seq == 0)
        .ok_or_else(|| damaged(RecordError::Shape("the first record is missing".to_owned())))?;
    let header = match line::read_header(first.as_bytes()).map_err(damaged)? {
        HeaderLine::Header(header) => header,
        HeaderLine::Newer(found) => {
            return Err(PostgresError::NewerFormat { session: name.to_owned(), found });
        }
    };
    let (mut entries, mut batches, mut damage, mut next_seq) = (Vec::new(), Vec::new(), Vec::new(), 1);
    for (seq, text) in lines {
        // the place that the line would have in a file
        let line = usize::try_from(seq).unwrap_or(usize::MAX).saturating_add(1);
        if seq > next_seq {
            damage.push(Damage::Gap { line, missing: next_seq..=seq - 1 });
        }
        next_seq = seq.saturating_add(1);
        match line::read_entry(text.as_bytes()) {
            Ok(read) => {
                entries.push(read.entry);
                batches.push(read.batch);
            }
            Err(error) => damage.push(Damage::Line { line, reason: error.to_string() }),
        }
    }
    Ok((StoredSession { header, entries, damage, next_seq }, batches))
}

/// Whether this can name a session.
pub(super) fn check_name(name: &str) -> Result<(), PostgresError> {
    match name.len() {
        1..=200 if !name.contains('\0') => Ok(()),
        _ => Err(PostgresError::Name { name: name.chars().take(40).collect() }),
    }
}

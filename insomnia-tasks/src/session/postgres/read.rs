use std::pin::pin;

use deadpool::managed::Manager;
use futures_util::TryStreamExt;
use tokio_postgres::types::Type;

use super::{
    PostgresError, PostgresSessions,
    database::{Odd, Param, Trouble, check_count, column},
    error::Failure,
    writer::number,
};
use crate::session::{
    Damage, Entry, RecordError, Session, StoredSession,
    branch::suffices,
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

const LINES: &str = "select seq, body from insomnia_items where session_id = $1 and seq >= $2 order by seq";

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
        // no name holds a NUL, nor can a parameter
        let after = after.split('\0').next().unwrap_or_default();
        let rows = self.query("list the sessions", LIST, &[(&after, Type::TEXT), (&limit, Type::INT8)]).await?;
        let number = |row: &tokio_postgres::Row, index| {
            column::<i64>(row, index).map(|number| u64::try_from(number).unwrap_or(0))
        };
        let info = |row: &tokio_postgres::Row| -> Result<SessionInfo, Odd> {
            Ok(SessionInfo {
                name: column(row, 0)?,
                entries: number(row, 1)?,
                created: number(row, 2)?,
                updated: number(row, 3)?,
                owner: column(row, 4)?,
                parent: column(row, 5)?,
            })
        };
        Ok(rows.iter().map(info).collect::<Result<_, Odd>>()?)
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

    /// The lines of a session with their numbers, from this number on; that of the header is 0.
    async fn lines(&self, name: &str, from: u64) -> Result<Vec<Line>, PostgresError> {
        let mut again = 0;
        loop {
            match self.lines_once(name, from).await {
                Ok(lines) => return Ok(lines),
                Err(trouble) if trouble.may_pass() && again < 3 => again += 1,
                Err(trouble) => return Err(trouble.into_error("read a session")),
            }
        }
    }

    async fn lines_once(&self, name: &str, from: u64) -> Result<Vec<Line>, Trouble> {
        let client = self.client().await?;
        let lines = self.lines_with(&client, name, from).await;
        self.settle(client, &lines);
        lines
    }

    async fn lines_with(&self, client: &tokio_postgres::Client, name: &str, from: u64) -> Result<Vec<Line>, Trouble> {
        let from = number(from);
        let params: [Param<'_>; 2] = [(&name, Type::TEXT), (&from, Type::INT8)];
        let mut rows = pin!(self.within(client.query_typed_raw(LINES, params)).await?);
        let mut lines = Vec::new();
        while let Some(row) = self.within(rows.try_next()).await? {
            lines.push((u64::try_from(column::<i64>(&row, 0)?).unwrap_or(0), column(&row, 1)?));
        }
        check_count(lines.len(), rows.rows_affected(), false)?;
        Ok(lines)
    }

    /// Reads all entries of a session, from a place that must not wait within the caller's runtime: blocks, and uses a
    /// connection and a runtime of its own.
    pub(crate) fn read_entries_blocking(&self, name: &str) -> Result<Vec<Entry>, PostgresError> {
        let (sessions, name) = (self.clone(), name.to_owned());
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| PostgresError::Connect(Failure::plain(error.to_string())))?;
            runtime.block_on(async {
                let client = sessions.within(sessions.pool().manager().create()).await;
                let lines = match client {
                    Ok(client) => sessions.lines_with(&client, &name, 0).await,
                    Err(trouble) => Err(trouble),
                };
                let lines = lines.map_err(|trouble| trouble.into_error("read a session"))?;
                Ok(assemble_all(&name, lines)?.0.entries)
            })
        };
        let died = || PostgresError::Connect(Failure::plain("the thread that reads it died"));
        std::thread::spawn(work).join().unwrap_or_else(|_| Err(died()))
    }
}

/// A record and its number.
type Line = (u64, String);

/// What was read of a session before it was taken over. It is all there is if its last number is that of the session.
pub(super) struct Early<'a> {
    sessions: &'a PostgresSessions,
    name: &'a str,
    tail: Option<(String, u64)>,
    lines: Vec<Line>,
}

impl<'a> Early<'a> {
    /// Reads all, or with a header and a number, what stands from that number on.
    pub(super) async fn read(
        sessions: &'a PostgresSessions,
        name: &'a str,
        tail: Option<(String, u64)>,
    ) -> Result<Self, PostgresError> {
        let lines = sessions.lines(name, tail.as_ref().map_or(0, |tail| tail.1)).await?;
        Ok(Self { sessions, name, tail, lines })
    }

    /// The session that ends with this number, once nobody else can append to it.
    pub(super) async fn completed(mut self, head: i64) -> Result<StoredSession, PostgresError> {
        let (sessions, name) = (self.sessions, self.name);
        let last = self.lines.last().map(|line| line.0);
        if last.is_none_or(|last| number(last) < head) {
            let next = last.map_or(self.tail.as_ref().map_or(0, |tail| tail.1), |last| last.saturating_add(1));
            self.lines.extend(sessions.lines(name, next).await?);
        }
        let Some((header, from)) = self.tail else { return Ok(assemble_all(name, self.lines)?.0) };
        let (tail, _) = assemble(name, &header, self.lines, from)?;
        match tail.damage.is_empty() && suffices(from, &tail.entries) {
            true => Ok(tail),
            false => stored(sessions, name).await,
        }
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
    assemble_all(name, sessions.lines(name, 0).await?)
}

/// The session of these lines, of which the first should be the header.
fn assemble_all(name: &str, lines: Vec<Line>) -> Result<(StoredSession, Vec<Option<Batch>>), PostgresError> {
    if lines.is_empty() {
        return Err(PostgresError::Missing { session: name.to_owned() });
    }
    let mut lines = lines.into_iter();
    match lines.next() {
        Some((0, header)) => assemble(name, &header, lines, 1),
        _ => {
            let source = RecordError::Shape("the first record is missing".to_owned());
            Err(PostgresError::DamagedHeader { session: name.to_owned(), source })
        }
    }
}

/// The session of a header and of the entries from a number on.
fn assemble(
    name: &str,
    header: &str,
    lines: impl IntoIterator<Item = Line>,
    from: u64,
) -> Result<(StoredSession, Vec<Option<Batch>>), PostgresError> {
    let session = || name.to_owned();
    let header = match line::read_header(header.as_bytes()) {
        Ok(HeaderLine::Header(header)) => header,
        Ok(HeaderLine::Newer(found)) => return Err(PostgresError::NewerFormat { session: session(), found }),
        Err(source) => return Err(PostgresError::DamagedHeader { session: session(), source }),
    };
    let (mut entries, mut batches, mut damage, mut next_seq) = (Vec::new(), Vec::new(), Vec::new(), from);
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

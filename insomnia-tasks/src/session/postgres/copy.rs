use std::{collections::HashSet, path::Path};

use deadpool_postgres::Object;
use tokio_postgres::types::Type;

use super::{
    PostgresError, PostgresSessions,
    database::{Param, Trouble},
    error::{Failure, check_size},
    open::{format_number, header_line},
    read::{check_name, stored_batches},
    writer::{item_id, kind, live_compact, number},
};
use crate::session::{
    Entry, FileStore, Header, OpenError, ids,
    line::{self, Batch},
};

/// About how many bytes of records one statement carries.
const CHUNK: usize = 4 * 1024 * 1024;

/// How often a copy is begun again.
const ATTEMPTS: u32 = 4;

const MAKE: &str = "insert into insomnia_sessions
    (session_id, epoch, head_seq, claim, parent, fork_seq, live_compact_seq, fmt) values ($1, 0, $2, $3, $4, $5, $6, $7)
    on conflict do nothing returning epoch";

const FILL: &str = "insert into insomnia_items (session_id, seq, epoch, item_id, kind, body)
    select $1, item.seq, 0, item.id, item.kind, item.body
    from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) as item (seq, id, kind, body)";

impl PostgresSessions {
    /// Copies the session in a folder to a new one of this name. It can be copied back, and the files are the same then,
    /// byte for byte. Lines of a damaged file that are no records stay behind.
    ///
    /// # Errors
    /// See [`PostgresError`]; [`PostgresError::Exists`] if there is a session of that name.
    pub async fn copy_from_folder(&self, folder: impl AsRef<Path>, name: &str) -> Result<(), PostgresError> {
        let folder = folder.as_ref().to_owned();
        let (stored, batches) = blocking(move || FileStore::read_batches(&folder)).await?;
        self.create_batches(name, &stored.header, &stored.entries, &batches).await
    }

    /// Copies a session to a folder that holds none. The session may be in use; what is copied is a prefix of it.
    ///
    /// # Errors
    /// See [`PostgresError`].
    pub async fn copy_to_folder(&self, name: &str, folder: impl AsRef<Path>) -> Result<(), PostgresError> {
        check_name(name)?;
        self.migrate().await?;
        let folder = folder.as_ref().to_owned();
        let (stored, batches) = stored_batches(self, name).await?;
        blocking(move || FileStore::create_batches(&folder, &stored.header, &stored.entries, &batches)).await
    }

    /// Makes a session that begins with these records, which others see whole or not at all. Nobody has it open then.
    ///
    /// # Errors
    /// See [`PostgresError`]; [`PostgresError::Exists`] if there is a session of that name, which stays as it is.
    pub async fn create(&self, name: &str, header: &Header, entries: &[Entry]) -> Result<(), PostgresError> {
        self.create_batches(name, header, entries, &[]).await
    }

    async fn create_batches(
        &self,
        name: &str,
        header: &Header,
        entries: &[Entry],
        batches: &[Option<Batch>],
    ) -> Result<(), PostgresError> {
        check_name(name)?;
        self.migrate().await?;
        let rows = Rows::new(header, entries, batches);
        for (seq, body) in rows.seqs.iter().zip(&rows.bodies) {
            check_size(|| format!("entry {seq}"), body.len())?;
        }
        // tells a lost answer to this commit from a session that was there
        let nonce = ids::uuid();
        let mut attempt = 1;
        loop {
            match self.create_once(name, header, entries, &rows, &nonce).await {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    let own = "select 1 from insomnia_sessions where session_id = $1 and claim = $2";
                    let params: [Param<'_>; 2] = [(&name, Type::TEXT), (&nonce, Type::TEXT)];
                    return match self.query("make a session", own, &params).await?.is_empty() {
                        true => Err(PostgresError::Exists { session: name.to_owned() }),
                        false => Ok(()),
                    };
                }
                Err(trouble) if trouble.may_pass() && attempt < ATTEMPTS => attempt += 1,
                Err(trouble) => return Err(trouble.into_error("make a session")),
            }
        }
    }

    /// False if there is a session of that name.
    async fn create_once(
        &self,
        name: &str,
        header: &Header,
        entries: &[Entry],
        rows: &Rows,
        nonce: &str,
    ) -> Result<bool, Trouble> {
        let head = entries.last().map_or(0, |last| number(last.seq));
        let parent = header.parent.as_ref().map(|parent| parent.session.replace('\0', "\u{fffd}"));
        let fork_seq = header.parent.as_ref().map(|parent| number(parent.seq));
        let (compact, fmt) = (live_compact(entries).0, format_number());
        let session: [Param<'_>; 7] = [
            (&name, Type::TEXT),
            (&head, Type::INT8),
            (&nonce, Type::TEXT),
            (&parent, Type::TEXT),
            (&fork_seq, Type::INT8),
            (&compact, Type::INT8),
            (&fmt, Type::INT4),
        ];
        let mut client = self.client().await?;
        let made = self.create_with(&mut client, name, &session, rows).await;
        self.settle(client, &made);
        made
    }

    /// One transaction.
    async fn create_with(
        &self,
        client: &mut Object,
        name: &str,
        session: &[Param<'_>],
        rows: &Rows,
    ) -> Result<bool, Trouble> {
        let transaction = self.within(client.transaction()).await?;
        if self.rows(transaction.query_typed_raw(MAKE, session.iter().cloned())).await?.is_empty() {
            return Ok(false);
        }
        let mut from = 0;
        while let Some(chunk) = rows.chunk(from) {
            let (seqs, ids) = (&rows.seqs[chunk.clone()], &rows.ids[chunk.clone()]);
            let (kinds, bodies) = (&rows.kinds[chunk.clone()], &rows.bodies[chunk.clone()]);
            let items: [Param<'_>; 5] = [
                (&name, Type::TEXT),
                (&seqs, Type::INT8_ARRAY),
                (&ids, Type::TEXT_ARRAY),
                (&kinds, Type::TEXT_ARRAY),
                (&bodies, Type::TEXT_ARRAY),
            ];
            self.rows(transaction.query_typed_raw(FILL, items)).await?;
            from = chunk.end;
        }
        self.within(transaction.commit()).await?;
        Ok(true)
    }
}

/// The rows of a session, the header's first, by column.
struct Rows {
    seqs: Vec<i64>,
    ids: Vec<String>,
    kinds: Vec<String>,
    bodies: Vec<String>,
}

impl Rows {
    fn new(header: &Header, entries: &[Entry], batches: &[Option<Batch>]) -> Self {
        let mut rows = Self {
            seqs: vec![0],
            ids: vec!["header".to_owned()],
            kinds: vec!["header".to_owned()],
            bodies: vec![header_line(header)],
        };
        let mut seen = HashSet::new();
        for (index, entry) in entries.iter().enumerate() {
            let mut body = Vec::new();
            // all that an entry holds has a JSON form already
            let _ = line::write_entry(entry, None, batches.get(index).copied().flatten(), &mut body);
            let id = item_id(entry);
            // a file may hold an id twice, of which the second does not count
            let id = if seen.insert(id.clone()) { id.into_owned() } else { format!("{id}#{}", entry.seq) };
            rows.seqs.push(number(entry.seq));
            rows.ids.push(id);
            rows.kinds.push(kind(entry));
            rows.bodies.push(String::from_utf8_lossy(&body).into_owned());
        }
        rows
    }

    /// The rows from this one on that one statement carries; none when all are carried.
    fn chunk(&self, from: usize) -> Option<std::ops::Range<usize>> {
        let mut bytes = 0;
        let rest = self.bodies.get(from..).filter(|rest| !rest.is_empty())?;
        let fits = rest.iter().take_while(|body| {
            bytes += body.len();
            bytes <= CHUNK
        });
        Some(from..from + fits.count().max(1))
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, PostgresError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| PostgresError::Folder(Box::new(error))),
        Err(_) => Err(PostgresError::Connect(Failure::plain("the runtime is shutting down"))),
    }
}

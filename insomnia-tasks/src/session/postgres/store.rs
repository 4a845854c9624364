use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tokio::{runtime::Handle, sync::Mutex};

use super::{PostgresSessions, migrate, writer::Writer};
use crate::session::{
    record::Entry,
    storage::{InboxMessage, Storage, StorageError},
};

/// Keeps one session in Postgres. [`PostgresSessions::open`] makes it.
///
/// It owns the session by a lease and an epoch. The lease says when another one may take over; what makes it safe is the
/// epoch, which every append names: after a take-over nothing of the former owner is written, however long it slept, and
/// it gets [`StorageError::Fenced`].
///
/// Dropped within a runtime, it writes what is queued and gives the session up, some time later; elsewhere the queue is lost and
/// the lease ends by itself. [`close`](Storage::close) it where that matters.
pub struct PostgresStore {
    shared: Arc<Shared>,
}

/// What this owner names in every statement.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) session: String,
    pub(super) epoch: i64,
    /// In milliseconds.
    pub(super) lease: i64,
}

impl PostgresStore {
    /// The statements that make the tables, or bring older ones up to date, in one transaction, for those who run migrations of
    /// their own. Where nothing is to be done they do nothing.
    pub fn schema_sql() -> String {
        migrate::schema_sql()
    }

    pub(super) fn new(sessions: PostgresSessions, claim: Claim, head: i64) -> Self {
        let lease = Duration::from_millis(claim.lease.unsigned_abs());
        let shared = Shared {
            queue: StdMutex::new(Queue { entries: Vec::new(), last_seq: u64::try_from(head).unwrap_or(0) }),
            offered: StdMutex::new(HashSet::new()),
            claim: claim.clone(),
            sessions: sessions.clone(),
            lease,
            writer: Mutex::new(State {
                writer: Writer::new(sessions, claim, head),
                used: Instant::now(),
                closed: false,
            }),
        };
        Self { shared: Arc::new(shared) }
    }
}

struct Shared {
    // std mutexes: held for moments, never across an await
    queue: StdMutex<Queue>,
    /// The ids of the messages of others that were handed out.
    offered: StdMutex<HashSet<String>>,
    claim: Claim,
    sessions: PostgresSessions,
    lease: Duration,
    writer: Mutex<State>,
}

struct Queue {
    entries: Vec<Entry>,
    /// The number of the last entry that was ever queued.
    last_seq: u64,
}

struct State {
    writer: Writer,
    /// The last sign of life.
    used: Instant,
    closed: bool,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offered(&self) -> MutexGuard<'_, HashSet<String>> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what was queued before the call. An entry leaves the queue when it is known to be kept, not before, so
    /// that this can be dropped anywhere.
    async fn flush(&self, state: &mut State) -> Result<(), StorageError> {
        let mut left = self.queue().entries.len();
        if left > 0 && state.closed {
            return Err(StorageError::Closed);
        }
        while left > 0 {
            let batch: Vec<Entry> = self.queue().entries.iter().take(left).cloned().collect();
            let taken: HashSet<String> = {
                let offered = self.offered();
                let ids = batch.iter().map(|entry| &entry.id);
                ids.filter(|id| offered.contains(*id)).cloned().collect()
            };
            let (kept, outcome) = state.writer.append(&batch, &taken).await;
            self.queue().entries.drain(..kept);
            left -= kept;
            outcome?;
            self.offered().retain(|id| !taken.contains(id));
            state.used = Instant::now();
        }
        Ok(())
    }
}

#[async_trait]
impl Storage for PostgresStore {
    fn append(&self, entry: &Entry) {
        let mut queue = self.shared.queue();
        if entry.seq > queue.last_seq {
            queue.last_seq = entry.seq;
            queue.entries.push(entry.clone());
        }
    }

    async fn flush(&self) -> Result<(), StorageError> {
        let mut state = self.shared.writer.lock().await;
        self.shared.flush(&mut state).await?;
        if state.closed {
            return Ok(());
        }
        if state.used.elapsed() > self.shared.lease / 3 {
            state.writer.renew().await?;
            state.used = Instant::now();
        }
        state.writer.check_fence()
    }

    async fn close(&self) -> Result<(), StorageError> {
        let mut state = self.shared.writer.lock().await;
        self.shared.flush(&mut state).await?;
        if !state.closed {
            state.writer.release().await?;
            state.closed = true;
        }
        Ok(())
    }

    fn renew_every(&self) -> Option<Duration> {
        Some(self.shared.lease / 3)
    }

    async fn renew(&self) -> Result<(), StorageError> {
        let mut state = self.shared.writer.lock().await;
        if state.closed {
            return Err(StorageError::Closed);
        }
        state.writer.renew().await?;
        state.used = Instant::now();
        Ok(())
    }

    async fn inbox(&self) -> Result<Vec<InboxMessage>, StorageError> {
        let claim = &self.shared.claim;
        let ids = || -> Vec<String> { self.shared.queue().entries.iter().map(|entry| entry.id.clone()).collect() };
        // an entry may be kept and leave the queue meanwhile
        let mut queued: HashSet<String> = ids().into_iter().collect();
        let messages = self.shared.sessions.pending(&claim.session).await;
        let messages =
            messages.map_err(|error| super::writer::storage_error("read the inbox of", &claim.session, error))?;
        queued.extend(ids());
        let mut offered = self.shared.offered();
        offered.extend(messages.iter().map(|message| message.id.clone()));
        Ok(messages.into_iter().filter(|message| !queued.contains(&message.id)).collect())
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else { return };
        let shared = Arc::clone(&self.shared);
        runtime.spawn(async move {
            let mut state = shared.writer.lock().await;
            if let Err(error) = shared.flush(&mut state).await {
                tracing::warn!(%error, "the last records of a session could not be written");
            }
            if !state.closed {
                // else the lease ends by itself
                let _ = state.writer.release().await;
                state.closed = true;
            }
        });
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("session", &self.shared.claim.session)
            .field("epoch", &self.shared.claim.epoch)
            .field("queued", &self.shared.queue().entries.len())
            .finish_non_exhaustive()
    }
}

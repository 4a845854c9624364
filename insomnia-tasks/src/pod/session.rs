use std::{path::Path, sync::Arc};

use super::{ForkError, Pod, RewindError};
use crate::{
    session::{EarlierError, FileStore, StorageError},
    worker::{CompactError, Compacted, Compaction, Event, Journal},
};

/// What can be done with a session as a whole. Each of these waits for a turn that is under way.
impl Pod {
    /// The number of the last turn, from 1; 0 before the first.
    pub fn turn(&self) -> u64 {
        self.ledger.turn()
    }

    /// Has the older turns summarised by the model, and sends the summary in their place from now on. The tasks and the
    /// reminder's counters stay as they are, and so does the [`history`](Self::history). Dropping the future changes nothing.
    ///
    /// # Errors
    /// If there is nothing to compact, the model gives no summary (then all is as it was), or the session cannot be stored.
    pub async fn compact(&self, how: &Compaction) -> Result<Compacted, CompactError> {
        self.compact_with(how, |_| {}).await
    }

    /// Like [`compact`](Self::compact); `listener` is told of retries.
    ///
    /// # Errors
    /// As for [`compact`](Self::compact).
    pub async fn compact_with(
        &self,
        how: &Compaction,
        listener: impl Fn(Event) + Send + Sync,
    ) -> Result<Compacted, CompactError> {
        let mut worker = self.worker.lock().await;
        self.ledger.renewing(worker.compact(how, &listener)).await
    }

    /// Goes back to the end of this turn, 0 being the session's beginning: messages, tasks and counters are as they were then,
    /// and what the host changed in the tasks since is void. Nothing is deleted from the session's file, and ids of tasks are
    /// not given again. What the host wants of the model (instructions) and the server of the request stays.
    ///
    /// # Errors
    /// If there is no such turn, or the session cannot be stored.
    pub async fn rewind(&self, turn: u64) -> Result<(), RewindError> {
        let mut worker = self.worker.lock().await;
        match self.read_earlier().await {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(RewindError::Journal(error.into())),
            None => return Err(RewindError::Journal("the runtime is shutting down".into())),
        }
        let last = self.ledger.turn();
        let session = self.ledger.rewind(turn).ok_or(RewindError::NoSuchTurn { turn, last })?;
        self.reminders.restore(session.counters);
        worker.replace_history(session.into_resumed());
        self.ledger.flush().await.map_err(RewindError::Journal)
    }

    /// Makes a new session in this folder that begins with all of this one. From then on each goes its own way; open the new
    /// one with a builder's [`session`](super::PodBuilder::session). Its header names this session, its last record and the
    /// SHA-256 of what they share.
    ///
    /// # Errors
    /// If the folder holds a session or cannot be written. This session is as it was.
    pub async fn fork(&self, folder: impl AsRef<Path>) -> Result<(), ForkError> {
        let worker = self.worker.lock().await;
        self.ledger.flush().await.map_err(ForkError::Journal)?;
        self.read_earlier().await.ok_or(ForkError::Runtime)??;
        let (header, entries) = self.ledger.forked();
        drop(worker);
        let folder = folder.as_ref().to_owned();
        let making = tokio::task::spawn_blocking(move || FileStore::create(&folder, &header, &entries));
        Ok(making.await.map_err(|_| ForkError::Runtime)??)
    }

    /// Like [`fork`](Self::fork), but the new session is in Postgres and has this name.
    ///
    /// # Errors
    /// If there is a session of that name, or the database cannot be used. This session is as it was.
    #[cfg(feature = "postgres")]
    pub async fn fork_in_postgres(
        &self,
        sessions: &crate::session::postgres::PostgresSessions,
        name: &str,
    ) -> Result<(), ForkError> {
        let worker = self.worker.lock().await;
        self.ledger.flush().await.map_err(ForkError::Journal)?;
        self.read_earlier().await.ok_or(ForkError::Runtime)??;
        let (header, entries) = self.ledger.forked();
        drop(worker);
        Ok(sessions.create(name, &header, &entries).await?)
    }

    /// Makes everything durable, notifications that wait for a request included, and gives the session up, so that it can be
    /// opened again. Turns end with an error from then on.
    ///
    /// Dropping a Pod does so too, but has nobody to tell an error to, and drops notifications that wait.
    ///
    /// # Errors
    /// If the session cannot be stored; it stays open then.
    pub async fn close(&self) -> Result<(), StorageError> {
        let mut worker = self.worker.lock().await;
        self.notifications.take().into_iter().for_each(|notification| worker.commit(notification));
        self.ledger.close().await
    }

    /// None if the runtime is shutting down.
    async fn read_earlier(&self) -> Option<Result<(), EarlierError>> {
        let ledger = Arc::clone(&self.ledger);
        tokio::task::spawn_blocking(move || ledger.read_earlier().map(drop)).await.ok()
    }
}

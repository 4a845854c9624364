use std::{
    fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use super::{
    create,
    disk::Disk,
    error::OpenError,
    open::{self, FileOptions, Opened, StoredSession},
    real_disk::RealDisk,
    writer::Writer,
};
#[cfg(feature = "postgres")]
use crate::session::line;
use crate::session::{
    record::{Entry, Header},
    storage::{Storage, StorageError},
};

/// Keeps a session in a folder of its own: `history.json` and, beside it, the lock file `history.lock`, a little room set aside
/// as `history.reserve`, and `blobs/` for messages beyond 256 KB.
///
/// One `FileStore` at a time can have a session open, on the whole machine; dropping it lets go. What was appended but
/// not flushed is written then, which blocks and has nobody to tell an error to: [`close`](Storage::close) it where the
/// last error matters.
pub struct FileStore {
    shared: Arc<Shared>,
}

impl FileStore {
    /// Opens the session in a folder, and makes folder and session if absent. Repairs what a crash left behind. Blocks:
    /// call it in `spawn_blocking` from async code.
    ///
    /// # Errors
    /// See [`OpenError`]. Nothing that was there is changed then.
    pub fn open(dir: &Path, options: FileOptions) -> Result<Opened, OpenError> {
        Self::open_on(Arc::new(RealDisk), dir, options)
    }

    /// Reads the session in a folder without opening it: nothing is locked, made or repaired, and it may be in use. A
    /// write that is under way shows as [`Damage::TornTail`](super::Damage::TornTail). Blocks.
    ///
    /// # Errors
    /// See [`OpenError`]; [`OpenError::Missing`] if there is no session.
    pub fn read(dir: &Path) -> Result<StoredSession, OpenError> {
        open::read(&(Arc::new(RealDisk) as Arc<dyn Disk>), dir)
    }

    /// Makes a session that begins with these records, in a folder that holds none. Another process sees it whole or not at
    /// all. Blocks.
    ///
    /// # Errors
    /// See [`OpenError`]; [`OpenError::Exists`] if there is a session, which stays as it is.
    pub fn create(dir: &Path, header: &Header, entries: &[Entry]) -> Result<(), OpenError> {
        create::create(&(Arc::new(RealDisk) as Arc<dyn Disk>), dir, header, entries, &[])
    }

    /// Like [`read`](Self::read), with the batch that each entry was written in.
    #[cfg(feature = "postgres")]
    pub(in crate::session) fn read_batches(dir: &Path) -> Result<(StoredSession, Vec<Option<line::Batch>>), OpenError> {
        open::read_batches(&(Arc::new(RealDisk) as Arc<dyn Disk>), dir)
    }

    /// Like [`create`](Self::create), marked as written in these batches.
    #[cfg(feature = "postgres")]
    pub(in crate::session) fn create_batches(
        dir: &Path,
        header: &Header,
        entries: &[Entry],
        batches: &[Option<line::Batch>],
    ) -> Result<(), OpenError> {
        create::create(&(Arc::new(RealDisk) as Arc<dyn Disk>), dir, header, entries, batches)
    }

    pub(super) fn open_on(disk: Arc<dyn Disk>, dir: &Path, options: FileOptions) -> Result<Opened, OpenError> {
        open::open(disk, dir, options)
    }

    pub(super) fn new(writer: Writer, last_seq: u64) -> Self {
        let queue = Queue { entries: Vec::new(), last_seq };
        Self { shared: Arc::new(Shared { queue: Mutex::new(queue), writer: Mutex::new(Some(writer)) }) }
    }

    /// The work goes on by itself if the caller is dropped, and the next one waits for it.
    async fn run(&self, work: fn(&Shared) -> Result<(), StorageError>) -> Result<(), StorageError> {
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_blocking(move || work(&shared)).await.unwrap_or_else(|stopped| {
            let target = "the session".to_owned();
            Err(StorageError::Io { action: "finish writing", target, source: stopped.into() })
        })
    }
}

#[async_trait]
impl Storage for FileStore {
    fn append(&self, entry: &Entry) {
        let mut queue = self.shared.queue();
        if entry.seq > queue.last_seq {
            queue.last_seq = entry.seq;
            queue.entries.push(entry.clone());
        }
    }

    async fn flush(&self) -> Result<(), StorageError> {
        // an entry leaves the queue when it is durable, not before
        if self.shared.queue().entries.is_empty() {
            return Ok(());
        }
        self.run(Shared::flush).await
    }

    async fn close(&self) -> Result<(), StorageError> {
        self.run(Shared::close).await
    }
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStore").field("queued", &self.shared.queue().entries.len()).finish_non_exhaustive()
    }
}

/// Two std mutexes: that of the queue is held for moments only, that of the writer while blocking on the disk, and never
/// across an await. The writer's comes first. None is left of the writer once the session is closed.
struct Shared {
    queue: Mutex<Queue>,
    writer: Mutex<Option<Writer>>,
}

struct Queue {
    entries: Vec<Entry>,
    /// The number of the last entry that was ever queued.
    last_seq: u64,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flush(&self) -> Result<(), StorageError> {
        self.flush_with(&mut self.writer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn close(&self) -> Result<(), StorageError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.flush_with(&mut writer)?;
        *writer = None;
        Ok(())
    }

    fn flush_with(&self, writer: &mut Option<Writer>) -> Result<(), StorageError> {
        let batch = self.queue().entries.clone();
        if batch.is_empty() {
            return Ok(());
        }
        let writer = writer.as_mut().ok_or(StorageError::Closed)?;
        writer.append(&batch)?;
        self.queue().entries.drain(..batch.len());
        Ok(())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::warn!(%error, "the last records of a session could not be written");
        }
    }
}

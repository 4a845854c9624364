use std::{
    fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use super::{
    disk::Disk,
    error::OpenError,
    open::{self, FileOptions, Opened, StoredSession},
    real_disk::RealDisk,
    scan::CLOSING,
    writer::Writer,
};
use crate::session::{
    line,
    record::Entry,
    storage::{Storage, StorageError},
};

/// Keeps a session in a folder of its own: `history.json` and, beside it, the lock file `history.lock`.
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
        open::read(&RealDisk, dir)
    }

    pub(super) fn open_on(disk: Arc<dyn Disk>, dir: &Path, options: FileOptions) -> Result<Opened, OpenError> {
        open::open(disk, dir, options)
    }

    pub(super) fn new(writer: Writer) -> Self {
        Self { shared: Arc::new(Shared { queue: Mutex::new(Vec::new()), writer: Mutex::new(Some(writer)) }) }
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
        self.shared.queue().push(entry.clone());
    }

    async fn flush(&self) -> Result<(), StorageError> {
        // an entry leaves the queue when it is durable, not before
        if self.shared.queue().is_empty() {
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
        f.debug_struct("FileStore").field("queued", &self.shared.queue().len()).finish_non_exhaustive()
    }
}

/// Two std mutexes: that of the queue is held for moments only, that of the writer while blocking on the disk, and never
/// across an await. The writer's comes first. None is left of the writer once the session is closed.
struct Shared {
    queue: Mutex<Vec<Entry>>,
    writer: Mutex<Option<Writer>>,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Vec<Entry>> {
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
        let batch = self.queue().clone();
        if batch.is_empty() {
            return Ok(());
        }
        let writer = writer.as_mut().ok_or(StorageError::Closed)?;
        writer.commit(&encode(&batch)?)?;
        self.queue().drain(..batch.len());
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

/// What comes behind the last record of the file: the batch, and the closing line.
fn encode(batch: &[Entry]) -> Result<Vec<u8>, StorageError> {
    let ends = match batch {
        [first, .., last] => Some([first.seq, last.seq]),
        _ => None,
    };
    let mut bytes = Vec::new();
    for entry in batch {
        bytes.extend_from_slice(b",\n");
        line::write_entry(entry, ends, &mut bytes).map_err(|source| StorageError::Entry { seq: entry.seq, source })?;
    }
    bytes.extend_from_slice(CLOSING);
    Ok(bytes)
}

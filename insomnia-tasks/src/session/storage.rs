use std::{io, time::Duration};

use async_trait::async_trait;

use super::record::Entry;

/// Keeps the entries of one session.
///
/// Queueing and writing are apart, so that a turn can be dropped at any await without losing or doubling an entry: what
/// was appended stays queued until a flush, this one or a later one, has made it durable.
///
/// A storage of your own: what it must hold is tested by the feature `testing`, and `PodBuilder::session_in` takes it.
///
/// ```
/// use std::{mem, sync::Mutex};
///
/// use async_trait::async_trait;
/// use insomnia_tasks::session::{Entry, Storage, StorageError};
///
/// #[derive(Default)]
/// struct Log {
///     queued: Mutex<Vec<Entry>>,
///     kept: Mutex<Vec<Entry>>, // a service of yours in its place
/// }
///
/// #[async_trait]
/// impl Storage for Log {
///     fn append(&self, entry: &Entry) {
///         let (Ok(mut queued), Ok(kept)) = (self.queued.lock(), self.kept.lock()) else { return };
///         if queued.last().or(kept.last()).is_none_or(|last| last.seq < entry.seq) {
///             queued.push(entry.clone());
///         }
///     }
///
///     async fn flush(&self) -> Result<(), StorageError> {
///         let (Ok(mut queued), Ok(mut kept)) = (self.queued.lock(), self.kept.lock()) else {
///             return Err(StorageError::Closed);
///         };
///         kept.extend(mem::take(&mut *queued));
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot keep a session",
    note = "use `FileStore`, `NoStorage`, or implement `Storage`"
)]
pub trait Storage: Send + Sync {
    /// Queues one entry behind those before. An entry whose number was queued before is that one again, and is passed
    /// over. It does no I/O and does not wait for a flush that is under way.
    fn append(&self, entry: &Entry);

    /// Writes what is queued and makes it durable. `Ok` means that every entry appended before the call is kept.
    ///
    /// # Errors
    /// Nothing queued is lost by an error: the next flush tries all of it again.
    async fn flush(&self) -> Result<(), StorageError>;

    /// Flushes, then gives the session up so that another process can open it.
    ///
    /// # Errors
    /// As [`Storage::flush`]; the session then stays open. Dropping the storage gives it up and tells no error.
    async fn close(&self) -> Result<(), StorageError> {
        self.flush().await
    }

    /// How often [`renew`](Self::renew) is to be called while a turn runs; none where ownership does not end by itself.
    fn renew_every(&self) -> Option<Duration> {
        None
    }

    /// Says that the owner is alive, so that nobody takes the session over.
    ///
    /// # Errors
    /// [`StorageError::Fenced`] if somebody has; flushes then fail too.
    async fn renew(&self) -> Result<(), StorageError> {
        Ok(())
    }

    /// The messages that other processes left for this session, oldest first. One stays here until an entry with its id is
    /// kept, and is gone by the same commit.
    ///
    /// # Errors
    /// If they cannot be read; they are not lost then.
    async fn inbox(&self) -> Result<Vec<InboxMessage>, StorageError> {
        Ok(Vec::new())
    }
}

/// A message that another process left for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxMessage {
    /// The id for the entry that takes it in.
    pub id: String,
    /// What it says.
    pub text: String,
}

/// Keeps nothing: for sessions that live in memory alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStorage;

#[async_trait]
impl Storage for NoStorage {
    fn append(&self, _entry: &Entry) {}

    async fn flush(&self) -> Result<(), StorageError> {
        Ok(())
    }
}

/// Why entries could not be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// There is no room.
    #[error(
        "no room to write `{target}`: {source}; free some space and go on, what is not yet written is kept in memory"
    )]
    Full {
        /// What was written to.
        target: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// Reading or writing failed; a later flush may succeed.
    #[error(
        "cannot {action} `{target}`: {source}; what is not yet written is kept in memory, a later flush tries again"
    )]
    Io {
        /// What was tried.
        action: &'static str,
        /// What it was tried on.
        target: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// Someone else changed what this writer alone may write.
    #[error(
        "`{target}` was changed by another writer ({detail}); nothing was written: stop the other one and open the session again"
    )]
    OtherWriter {
        /// What was written to.
        target: String,
        /// How it shows.
        detail: String,
    },
    /// Another owner has taken the session over. Nothing of this one is written any more.
    #[error("`{target}` was taken over by {by}; nothing more was written: open the session again to go on")]
    Fenced {
        /// What was written to.
        target: String,
        /// Who, as they noted it themselves.
        by: String,
    },
    /// The storage gave up, and every later flush fails as this one.
    #[error("`{target}` can no longer be relied on ({detail}); check the disk, then open the session again")]
    Failed {
        /// What was written to.
        target: String,
        /// What went wrong.
        detail: String,
    },
    /// Entries were appended after the session was closed.
    #[error("the session is closed; open it again to go on")]
    Closed,
    /// An entry has no JSON form.
    #[error("entry {seq} cannot be written as JSON: {source}")]
    Entry {
        /// The entry.
        seq: u64,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
}

/// The kinds of [`StorageError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StorageErrorKind {
    /// [`StorageError::Full`]
    Full,
    /// [`StorageError::Io`]
    Io,
    /// [`StorageError::OtherWriter`]
    OtherWriter,
    /// [`StorageError::Fenced`]
    Fenced,
    /// [`StorageError::Failed`]
    Failed,
    /// [`StorageError::Closed`]
    Closed,
    /// [`StorageError::Entry`]
    Entry,
}

impl StorageError {
    /// What a failed call of the system means.
    pub(super) fn system(action: &'static str, target: String, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::Full { target, source }
            }
            _ => Self::Io { action, target, source },
        }
    }

    /// Which error this is.
    pub fn kind(&self) -> StorageErrorKind {
        match self {
            Self::Full { .. } => StorageErrorKind::Full,
            Self::Io { .. } => StorageErrorKind::Io,
            Self::OtherWriter { .. } => StorageErrorKind::OtherWriter,
            Self::Fenced { .. } => StorageErrorKind::Fenced,
            Self::Failed { .. } => StorageErrorKind::Failed,
            Self::Closed => StorageErrorKind::Closed,
            Self::Entry { .. } => StorageErrorKind::Entry,
        }
    }
}

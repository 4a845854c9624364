use crate::{
    session::{EarlierError, OpenError, OpenErrorKind, StorageError},
    tool::AddToolError,
    worker::JournalError,
};

/// Why a session could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PodError {
    /// The session's folder could not be opened.
    #[error(transparent)]
    Session(#[from] OpenError),
    /// The session in Postgres could not be opened.
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Postgres(#[from] crate::session::postgres::PostgresError),
    /// A tool cannot be added: two have one name (the task tools are `TaskCreate`, `TaskUpdate`, `TaskList` and `TaskGet`), or
    /// the schema of one cannot be told to every server.
    #[error(transparent)]
    Tool(#[from] AddToolError),
    /// No HTTP client could be made.
    #[error("no HTTP client could be made: {0}; check the TLS set-up, or give one with `http_client`")]
    Http(#[source] reqwest::Error),
    /// The blocking task that opens the folder did not run to its end.
    #[error("the session could not be opened: the runtime is shutting down")]
    Runtime,
}

/// The kinds of [`PodError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PodErrorKind {
    /// [`PodError::Session`], and what kind of error the folder gave.
    Session(OpenErrorKind),
    /// [`PodError::Tool`]
    Tool,
    /// [`PodError::Http`]
    Http,
    /// [`PodError::Postgres`]
    #[cfg(feature = "postgres")]
    Postgres,
    /// [`PodError::Runtime`]
    Runtime,
}

impl PodError {
    /// Which error this is.
    pub fn kind(&self) -> PodErrorKind {
        match self {
            Self::Session(error) => PodErrorKind::Session(error.kind()),
            Self::Tool(_) => PodErrorKind::Tool,
            Self::Http(_) => PodErrorKind::Http,
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => PodErrorKind::Postgres,
            Self::Runtime => PodErrorKind::Runtime,
        }
    }
}

/// Why a session was not taken back to an earlier turn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewindError {
    /// There is no such turn; nothing was changed.
    #[error("there is no turn {turn}: the last one is {last}")]
    NoSuchTurn {
        /// The turn that was asked for.
        turn: u64,
        /// The last turn.
        last: u64,
    },
    /// The session was taken back, but that is not on disk yet; a later flush tries again.
    #[error("the session could not be stored: {0}")]
    Journal(#[source] JournalError),
}

/// Why a session was not forked. It is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// The session itself could not be stored.
    #[error("the session could not be stored, so it was not forked: {0}")]
    Journal(#[source] JournalError),
    /// The new session could not be made.
    #[error(transparent)]
    Folder(#[from] OpenError),
    /// The new session in Postgres could not be made.
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Postgres(#[from] crate::session::postgres::PostgresError),
    /// What the new session begins with could not be written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The blocking task that writes the folder did not run to its end.
    #[error("the session could not be forked: the runtime is shutting down")]
    Runtime,
}

impl From<EarlierError> for ForkError {
    fn from(error: EarlierError) -> Self {
        match error {
            EarlierError::Folder(error) => Self::Folder(error),
            #[cfg(feature = "postgres")]
            EarlierError::Postgres(error) => Self::Postgres(error),
        }
    }
}

use crate::{session::OpenError, tool::AddToolError};

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

use super::JournalError;
use crate::wire::{ModelError, ModelErrorKind, Usage};

/// A turn that ended with an answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Turn {
    /// The model's last text; empty if it had nothing to say.
    pub text: String,
    /// Answered requests of the turn.
    pub requests: u64,
    /// What the server says of the last request's cost.
    pub usage: Option<Usage>,
    /// Why the model stopped, in the server's words.
    pub finish_reason: Option<String>,
}

/// A turn that ended without an answer. The history is whole: another prompt goes on from it.
///
/// ```no_run
/// # async fn example(pod: insomnia_tasks::Pod) {
/// use insomnia_tasks::{wire::ModelErrorKind, worker::TurnErrorKind};
///
/// if let Err(error) = pod.run("Go on.").await {
///     match error.kind() {
///         TurnErrorKind::Model(ModelErrorKind::RateLimited { retry_after }) => println!("later: {retry_after:?}"),
///         TurnErrorKind::RequestLimit => println!("prompt again to go on"),
///         _ => println!("{error}"), // says what to do
///     }
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The model call failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The session could not be written; nothing was sent that is not on disk.
    #[error("the session could not be stored, and nothing more is sent: {0}")]
    Journal(#[source] JournalError),
    /// The turn reached its limit of requests.
    #[error("the turn reached its limit of {limit} request{}; prompt again to go on, or raise the limit", plural(*.limit))]
    RequestLimit {
        /// The limit.
        limit: u64,
    },
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// The kinds of [`TurnError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnErrorKind {
    /// [`TurnError::Model`], and what kind of error the model call ended with.
    Model(ModelErrorKind),
    /// [`TurnError::Journal`]
    Journal,
    /// [`TurnError::RequestLimit`]
    RequestLimit,
}

impl TurnError {
    /// Which error this is.
    pub fn kind(&self) -> TurnErrorKind {
        match self {
            Self::Model(error) => TurnErrorKind::Model(error.kind()),
            Self::Journal(_) => TurnErrorKind::Journal,
            Self::RequestLimit { .. } => TurnErrorKind::RequestLimit,
        }
    }

    /// The model call's error, where that was it.
    pub fn model(&self) -> Option<&ModelError> {
        match self {
            Self::Model(error) => Some(error),
            _ => None,
        }
    }
}

/// How a turn ended, as interceptors are told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnEnd {
    /// With an answer.
    Answered,
    /// With an error; its message.
    Failed(String),
    /// It was cancelled or dropped.
    Cancelled,
}

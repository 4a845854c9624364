use std::time::Duration;

use super::Compacted;
use crate::{
    reminder::Decision,
    wire::{Dialect, Usage},
};

/// What happens in a turn, for a user interface. Told in order, from within the turn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A request is about to leave.
    RequestStarted {
        /// Which request of the turn, from 1.
        number: u64,
    },
    /// A piece of the answer's text. Without streaming, all of it.
    TextDelta(String),
    /// A piece of the model's reasoning, where the server shows it.
    ReasoningDelta(String),
    /// A request was answered and the answer is committed.
    RequestFinished {
        /// Which request of the turn, from 1.
        number: u64,
        /// Why the model stopped, in the server's words.
        finish_reason: Option<String>,
    },
    /// What the server says the request cost.
    Usage(Usage),
    /// Whether a reminder goes with the next request, and if not, why.
    ReminderDecided(Decision),
    /// A tool begins.
    ToolStarted {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// Its arguments as JSON text.
        arguments: String,
    },
    /// A tool has ended.
    ToolFinished {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// Whether it succeeded.
        ok: bool,
        /// What the model sees of it.
        result: String,
    },
    /// The model call failed and is tried again.
    Retrying {
        /// How long from now.
        wait: Duration,
        /// What went wrong, for people.
        error: String,
    },
    /// The server refused the form of the request; from now on it gets this one.
    DialectChanged(Dialect),
    /// Older turns are not sent any more, but a summary of them.
    Compacted(Compacted),
    /// An automatic compaction failed; all is as it was.
    NotCompacted {
        /// What went wrong, for people.
        error: String,
    },
    /// The turn ended with an answer.
    TurnFinished {
        /// Answered requests of the turn.
        requests: u64,
    },
}

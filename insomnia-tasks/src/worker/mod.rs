//! The chat-completion loop: prompt → request → tool calls → results → request … → text.
//!
//! The [`Worker`] owns the history and knows tools and interceptors, not tasks. Everything is committed before it is sent, and
//! a turn that is cancelled or dropped at any point leaves a history from which the next turn goes on.

mod ask;
mod body;
mod builder;
mod compaction;
mod contents;
mod end;
mod event;
mod gunzip;
mod history;
mod http;
mod journal;
mod learned;
mod log;
mod response;
mod retry;
mod round;
mod settings;
mod spans;
mod transport;
mod turn;

pub use builder::WorkerBuilder;
pub use compaction::{AutoCompaction, CompactError, Compacted, Compaction};
pub use end::{Turn, TurnEnd, TurnError, TurnErrorKind};
pub use event::Event;
pub use history::History;
pub use journal::{Journal, JournalError, NoJournal};
pub use learned::LearnedDialect;
pub(crate) use log::{Resumed, Summarised};
pub use retry::RetryPolicy;
pub use settings::WorkerSettings;
pub use transport::Timeouts;
pub use turn::Worker;

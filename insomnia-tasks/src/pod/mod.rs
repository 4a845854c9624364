//! One agent session: a [`Worker`](crate::worker::Worker) and the session-lifetime state around it.
//!
//! A [`Pod`] holds the tasks, the reminder's counters, the notifications and the storage. What it has acknowledged is on disk,
//! and a resumed session goes on as if it had never been closed.

mod builder;
mod error;
mod handle;
mod inbox;
mod notifications;
mod placement;
mod session;
mod stream;
mod task_reminder;

pub use builder::PodBuilder;
pub use error::{ForkError, PodError, PodErrorKind, RewindError};
pub use handle::Pod;
pub use placement::{ParsePlacementError, ReminderPlacement};
pub use stream::{TurnStep, TurnStream};
pub use task_reminder::TaskReminder;

//! The reminder: one system message that lists the open tasks, when the model has not touched them for a while.
//!
//! It never causes a request, never repeats within the cooldown, and stays within [`TEXT_LIMIT`] bytes. The rules are a
//! pure state machine ([`ReminderState`]) without I/O or clock; [`Reminders`] is the handle that a session shares.

mod cadence;
mod decision;
mod handle;
#[cfg(feature = "client")]
mod interceptor;
mod state;
mod text;

pub use cadence::{Cadence, CadenceError};
pub use decision::{Decision, Quiet};
pub use handle::Reminders;
#[cfg(feature = "client")]
pub use interceptor::TaskReminder;
pub use state::{ReminderState, Situation};
#[cfg(feature = "client")]
pub(crate) use text::task_line;
pub use text::{TASKS_SHOWN, TEXT_LIMIT, estimate_tokens, reminder_text, split_reminder};

//! History entries: exact wire messages and what they are.
//!
//! An [`Item`] keeps the JSON text of its message as it was sent or received; only whitespace between tokens is
//! dropped, so that it fits on one line. The same bytes go to the disk, into every later request, and back to the
//! caller. Everything else here is a view that is parsed from that text when asked for.

mod call;
mod entry;
#[cfg(feature = "client")]
mod openai;
mod rounds;

pub use call::ToolCall;
pub(crate) use call::clean_name;
pub(crate) use rounds::{Ids, Round, Rounds, Slot};

pub use entry::{Item, ItemError, ItemKind};

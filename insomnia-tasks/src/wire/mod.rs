//! What goes over the wire: bytes in, values out. Nothing here opens a socket, waits, or reads a clock.
//!
//! Replies are read leniently: every field may be missing, of another type, or unknown, and only what is needed is
//! looked at. [`read_reply`] reads a reply that came whole, [`StreamReader`] one that is streamed, and [`classify`] says
//! what an error reply means. All three take bytes as they come and never panic. A [`Projection`] makes the messages of a
//! request from the history, in the [`Dialect`] of the server, and a [`RequestBody`] puts them together.

mod answer;
mod assemble;
mod body;
mod chunks;
mod classify;
mod completeness;
mod dialect;
mod error;
mod error_body;
mod error_kind;
mod error_text;
mod head;
mod markers;
mod message;
mod reply;
mod retry_after;
mod sse;
mod stream;
mod usage;

pub use crate::tool::arguments::MalformedArguments;
pub use answer::{Answer, AnsweredCall};
pub use body::RequestBody;
pub use chunks::Progress;
pub use classify::classify;
#[cfg(feature = "client")]
pub(crate) use dialect::host_of;
pub use dialect::{
    CallIds, Dialect, HostMessage, INTERRUPTED, LateSystem, Projection, ToolOnlyContent, UnknownPlacement, append_late,
};
pub use error::ModelError;
pub use error_kind::{ErrorDetail, ModelErrorKind, RefusedRole};
pub use head::ReplyHead;
pub use message::Delta;
pub use reply::read_reply;
pub use retry_after::parse_retry_after;
pub use stream::StreamReader;
pub use usage::Usage;

//! What goes over the wire: bytes in, values out, no socket.

mod body;
mod dialect;

pub(crate) use dialect::Rounds;

pub use body::RequestBody;
pub use dialect::{
    CallIds, Dialect, HostMessage, INTERRUPTED, LateSystem, Projection, ToolOnlyContent, UnknownPlacement, append_late,
};

//! From the history to the `messages` of a request, in the form that the server at hand accepts.
//!
//! [`Dialect`] says what a server wants, [`Projection`] applies it to a history, [`append_late`] offers the same choice to
//! hosts with a message list of their own.

mod assistant;
mod content;
mod detect;
mod edit;
mod fallback;
mod host;
#[cfg(feature = "client")]
mod openai;
mod presets;
mod projection;
#[cfg(feature = "responses")]
mod responses;
mod settings;

#[cfg(test)]
mod cases_tests;
#[cfg(test)]
mod history_tests;
#[cfg(test)]
mod projection_tests;

#[cfg(feature = "client")]
pub(crate) use detect::host_of;
pub use host::{HostMessage, append_late};

pub use projection::{INTERRUPTED, Projection};
pub use settings::{CallIds, Dialect, LateSystem, ToolOnlyContent, UnknownPlacement};

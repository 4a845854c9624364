//! Keeps long-running LLM agents honest about their plan.

#[allow(unused_extern_crates)] // the derive macros name the crate by this path, inside it too
extern crate self as insomnia_tasks;

#[cfg(feature = "client")]
pub mod interceptor;
pub mod item;
#[cfg(feature = "client")]
pub mod pod;
pub mod reminder;
#[cfg(feature = "client")]
pub mod session;
pub mod task;
mod tasks;
pub mod tool;
pub mod wire;
#[cfg(feature = "client")]
pub mod worker;

#[cfg(feature = "client")]
pub use interceptor::Interceptor;
pub use item::{Item, ItemError, ItemKind, ToolCall};
#[cfg(feature = "client")]
pub use pod::Pod;
pub use schemars;
pub use tasks::{Answered, Tasks};
#[doc(hidden)]
pub use tool::private as __private;
pub use tool::{IntoToolOutput, Run, Tool, ToolDefinition, ToolError, ToolOutput, ToolSet, Toolbox};
pub use wire::HostMessage;

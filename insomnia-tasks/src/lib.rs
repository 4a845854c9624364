//! Keeps long-running LLM agents honest about their plan.

#[allow(unused_extern_crates)] // the derive macros name the crate by this path, inside it too
extern crate self as insomnia_tasks;

pub mod item;
pub mod reminder;
pub mod task;
mod tasks;
pub mod tool;
pub mod wire;

pub use item::{Item, ItemError, ItemKind, ToolCall};
pub use schemars;
pub use tasks::{Answered, Tasks};
#[doc(hidden)]
pub use tool::private as __private;
pub use tool::{IntoToolOutput, Run, Tool, ToolDefinition, ToolError, ToolOutput, ToolSet, Toolbox};

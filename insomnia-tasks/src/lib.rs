//! Keeps long-running LLM agents honest about their plan.

#[allow(unused_extern_crates)] // the derive macros name the crate by this path, inside it too
extern crate self as insomnia_tasks;

pub mod item;

pub use item::{Item, ItemError, ItemKind, ToolCall};

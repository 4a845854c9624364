//! Keeps long-running LLM agents honest about their plan.
//!
//! The crate gives an agent four task tools over a list that lives as long as the session, and one durable system message when
//! open tasks have not been touched for a while. It works with any OpenAI-compatible chat-completions server.
//!
//! # Where to start
//!
//! - A new agent: [`Pod`] is one session with its loop, tasks, reminders and storage.
//! - A loop of your own: [`Tasks`] is the same plugin in three calls.
//! - Tools of your own: [`Tool`], [`Run`] and [`ToolSet`].
//! - How to do what: the [`guide`], from the first loop to tuning, testing and operating an agent.
//!
//! # The map
//!
//! | module | what it holds |
//! |---|---|
//! | [`item`] | history entries: exact wire messages and what they are |
//! | [`tool`] | tools, their schemas, their arguments |
//! | [`task`] | the task store and the four tools |
//! | [`reminder`] | when to remind, and what to say |
//! | [`wire`] | requests, replies, streams, errors, dialects: bytes in, values out |
#![cfg_attr(
    feature = "client",
    doc = "| [`interceptor`] | the trait for plugins of the loop |
| [`worker`] | the chat-completion loop |
| [`session`] | records and storage |
| [`pod`] | one agent session |"
)]
#![cfg_attr(feature = "testing", doc = "| [`testing`] | what every storage of sessions must hold, as tests |")]
#![cfg_attr(feature = "responses", doc = "| [`responses`] | the plugin for loops over the Responses API |")]
//!
//! # Features
//!
//! | feature | default | what it brings |
//! |---|---|---|
//! | `client` | yes | [`Pod`], `Worker`, sessions |
//! | `rustls` | yes | async-openai's rustls |
//! | `native-tls` | | the system's TLS in its place |
//! | `responses` | | the plugin for loops over async-openai's Responses API |
//! | `postgres` | | sessions in Postgres |
//! | `testing` | | what every storage of sessions must hold, as tests |
//!
//! With `default-features = false` all below [`wire`] and the HTTP stack are left out.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[allow(unused_extern_crates)] // the derive macros name the crate by this path, inside it too
extern crate self as insomnia_tasks;

mod cost;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(feature = "client")]
pub mod interceptor;
pub mod item;
mod json;
#[cfg(feature = "client")]
pub mod pod;
pub mod reminder;
#[cfg(feature = "responses")]
pub mod responses;
#[cfg(feature = "client")]
pub mod session;
pub mod task;
mod tasks;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tool;
pub mod wire;
#[cfg(feature = "client")]
pub mod worker;

pub use cost::Cost;
#[doc(inline)]
#[cfg(feature = "client")]
pub use interceptor::Interceptor;
#[doc(inline)]
pub use item::{Item, ItemError, ItemKind, ToolCall};
#[doc(inline)]
#[cfg(feature = "client")]
pub use pod::Pod;
pub use schemars;
pub use tasks::{Answered, Tasks};
#[doc(hidden)]
pub use tool::private as __private;
#[doc(inline)]
pub use tool::{IntoToolOutput, Run, Tool, ToolDefinition, ToolError, ToolOutput, ToolSet, Toolbox};
#[doc(inline)]
pub use wire::HostMessage;

/// The README's examples, compiled.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../README.md")]
struct Readme;

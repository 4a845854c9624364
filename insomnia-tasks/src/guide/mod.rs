//! How to work with this crate, one page for each question. Nothing here is code to call.
//!
//! The examples use `async-openai`, `serde` and `tokio` as the README adds them, some `serde_json`, and `schemars` by
//! `insomnia_tasks::schemars`.
//!
//! | page | question |
//! |---|---|
#![cfg_attr(feature = "client", doc = "| [`first_loop`] | How does an agent, or the loop that I have, get tasks? |")]
//! | [`tools`] | How do I write tools of my own? |
//! | [`reminders`] | When is the model reminded, and which N and M suit my agent? |
//! | [`dialects`] | How does a late system message reach a server that does not want one? |
//! | [`errors`] | What can a call of the model end with, and what is tried again? |
#![cfg_attr(
    feature = "client",
    doc = "| [`sessions`] | What is kept, and how do I resume, compact, rewind, fork and read it? |
| [`testing`] | How do I test an agent without a model? |
| [`operators`] | What do I see of an agent that runs, and how do I export it? |"
)]
#![cfg_attr(feature = "postgres", doc = "| [`postgres`] | How do sessions move between machines? |")]

#[doc = include_str!("../docs/dialects.md")]
pub mod dialects {}
#[doc = include_str!("../docs/errors.md")]
pub mod errors {}
#[cfg(feature = "client")]
#[doc = include_str!("../docs/first-loop.md")]
pub mod first_loop {}
#[cfg(feature = "client")]
#[doc = include_str!("../docs/operators.md")]
pub mod operators {}
#[cfg(feature = "postgres")]
pub mod postgres {
    #![doc = include_str!("../docs/postgres.md")]

    #[allow(unused_imports)] // the page's links
    use crate::session::postgres::{PostgresOptions, PostgresSessions, PostgresStore};
}
#[doc = include_str!("../docs/reminders.md")]
pub mod reminders {}
#[cfg(feature = "client")]
#[doc = include_str!("../docs/sessions.md")]
pub mod sessions {}
#[cfg(feature = "client")]
#[doc = include_str!("../docs/testing.md")]
pub mod testing {}
#[doc = include_str!("../docs/tools.md")]
pub mod tools {}

//! The model of the built-in demo: a script that forgets its tasks as real models do.
//!
//! [`ForgetfulModel`] notes three tasks, works on without touching them, and records its progress only when a reminder
//! comes. It decides from a request's messages alone, so resumed sessions and any number of prompts work.

mod conversation;
mod findings;
mod model;
#[cfg(test)]
mod tests;

pub use model::ForgetfulModel;

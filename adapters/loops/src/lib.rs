//! Loops of hosts on async-openai, each with tasks and reminders in it: typed ([`chat`]), over JSON ([`json`]), and over the
//! Responses API ([`responses`]).
//!
//! Each is one function to copy. It keeps its history in a file, and writes it before each request: what the model sees is on
//! disk, a reminder included, and the next call goes on from there, in the same process or in another one.

pub mod chat;
mod file;
pub mod json;
pub mod responses;

/// Whatever may go wrong in a loop.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

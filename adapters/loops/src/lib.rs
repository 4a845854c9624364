//! Loops of hosts on async-openai, each with tasks and reminders in it: typed ([`chat`]), over JSON ([`json`]), and over the
//! Responses API ([`responses`]).
//!
//! Each is one function to copy. It keeps its history in a file, and writes it before each request: what the model sees is on
//! disk, a reminder included, and the next call goes on from there, in the same process or in another one.

use std::path::PathBuf;

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{Answered, HostMessage, Item, Tasks, ToolCall};

pub mod chat;
mod file;
pub mod json;
pub mod responses;

/// Whatever may go wrong in a loop.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// What a turn needs.
#[derive(Debug)]
pub struct Agent {
    /// Where to ask.
    pub client: Client<OpenAIConfig>,
    /// Whom to ask.
    pub model: String,
    /// New ones for each turn, which are filled from the history.
    pub tasks: Tasks,
    /// The file of the history; made if absent.
    pub history: PathBuf,
}

/// The results of calls that are not the task tools'. A host with tools of its own runs them here.
fn no_such_tool<M: HostMessage>(answered: &Answered) -> Vec<M> {
    let result = |call: &ToolCall| Item::tool_message(&call.id, format!("there is no tool {}", call.name));
    answered.others.iter().filter_map(|call| M::from_item(&result(call))).collect()
}

//! What the tests share: sessions that talk to a scripted server, the exact texts that it received, and tools that wait.

mod latch;
mod session;
mod wire;

pub(crate) use latch::Latch;
pub(crate) use session::{cancel, client, folder, http, pod, quiet, tool, tools};
pub(crate) use wire::{assert_conversation, refusal, reminders, sent};

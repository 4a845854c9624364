//! `chat` and `drop_in` as real processes: their flags, what they print, how they end and what they leave behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests, where these are the failure

mod demo;
#[cfg(unix)]
mod display;
mod drop_in;
mod endpoint;
mod failures;
mod interrupts;
mod json;
#[cfg(unix)]
mod narrow;
mod new_agent;
#[cfg(unix)]
mod paste;
mod place;
mod prompts;
mod reminders;
mod report;
mod saved;
#[cfg(unix)]
mod screen;
mod sessions;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod streams;
#[cfg(unix)]
mod terminal;

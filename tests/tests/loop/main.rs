//! The loop over real HTTP: a scripted server plays the model, everything else is the library as its users get it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests, where these are the failure

mod answers;
mod cancel;
mod conversions;
mod drop_in;
mod durability;
mod failures;
mod host_edits;
mod hostile;
mod interceptors;
mod interleavings;
mod notifications;
mod prompt_cache;
mod reminders;
mod runtimes;
mod same_bytes;
mod streams;
mod support;
mod task_tools;
mod tools;
mod traces;
mod vectors;

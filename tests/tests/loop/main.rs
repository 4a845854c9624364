//! The loop over real HTTP: a scripted server plays the model, everything else is the library as its users get it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests, where these are the failure

mod support;
mod vectors;

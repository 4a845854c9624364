//! Tools by macro: what the model is told of every shape that arguments may have, and what it may then write.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests, where these are the failure

mod checkers;
mod common_subset;
mod generate;
mod renderings;
mod shapes;
mod strict_rules;

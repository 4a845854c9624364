//! Replies as real servers send them, and what is read from them.
#![allow(clippy::unwrap_used, clippy::panic)] // the helpers are a part of the tests

mod cases;
mod errors;
mod expect;
mod limits;
mod properties;
mod replies;
mod streams;

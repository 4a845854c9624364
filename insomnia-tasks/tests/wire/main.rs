//! Replies as real servers send them, and what is read from them.

mod cases;
mod errors;
mod expect;
mod properties;
mod replies;
mod streams;

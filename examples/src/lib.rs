//! Parts shared by the example binaries and the integration tests.

pub mod demo;
pub mod scripted;
pub mod tools;

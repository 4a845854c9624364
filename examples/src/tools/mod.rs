//! Two harmless tools for a model: listing a folder and reading a text file, below one root and nowhere else.
//!
//! A [`Workspace`] holds its root open and resolves every path from there, one component at a time, so neither `..` nor
//! a link nor a folder that is exchanged in between leads outside. Nothing is ever written, and nothing blocks: pipes
//! and devices are refused. Results are short texts for a model; errors say what to do instead.

mod definitions;
mod list_files;
mod read_file;
#[cfg(test)]
mod tests;
mod workspace;

pub use definitions::{ListFiles, ReadFile};
pub use workspace::Workspace;

//! Markdown as rows for a terminal, while it is still being written.

mod answer;
mod blocks;
mod render;
mod table;
mod wrap;

pub(crate) use answer::{Answer, Look};
pub(crate) use blocks::parser;

//! Calls and their results: every result belongs to one call of the assistant message before it.

mod history;
mod ids;
mod round;

pub(crate) use history::Rounds;
pub(crate) use ids::Ids;
pub(crate) use round::{Round, Slot};

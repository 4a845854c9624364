//! The session's tasks: a store shared by the four tools, the reminder and the host.
//!
//! A task's id is never reused in a session. Ids are given under one lock, in the order of the calls.

mod changes;
mod fold;
mod id;
mod status;
mod store;
pub mod tools;
mod value;

pub use changes::{TaskChange, TaskChanges};
pub use fold::TaskFold;
pub use id::{ParseTaskIdError, TaskId};
pub use status::{ParseTaskStatusError, TaskStatus};
#[cfg(feature = "client")]
pub(crate) use store::Author;
pub use store::{TaskCounts, TaskSnapshot, TaskStore};
pub use value::{DESCRIPTION_LIMIT, SUBJECT_LIMIT, Task, TaskError, TaskPatch};

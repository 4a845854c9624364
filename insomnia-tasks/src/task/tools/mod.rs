//! The four tools through which the model keeps its tasks.
//!
//! They are forgiving in what they read, and every error tells the model what to do. Results are compact JSON.

mod create;
mod get;
mod list;
#[cfg(test)]
mod tests;
mod toolbox;
mod update;

pub use create::TaskCreate;
pub use get::TaskGet;
pub use list::TaskList;
#[cfg(feature = "client")]
pub(crate) use toolbox::SessionTasks;
pub use toolbox::{TaskToolbox, changes_tasks, is_task_tool};
pub use update::TaskUpdate;

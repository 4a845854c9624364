use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    task::{Task, TaskError, TaskStore, store::Author},
    tool::Tool,
};

/// Put a step of longer work on the task list. Worth it for work of three or more steps or when the user lists several
/// things; not for a single simple one. Several calls may stand in one answer.
#[derive(Clone, Debug, Deserialize, JsonSchema, Tool)]
pub struct TaskCreate {
    /// The step in one line
    pub subject: String,
    /// What to know to do it
    #[schemars(required)]
    pub description: Option<String>,
}

impl TaskCreate {
    pub(super) fn apply(self, author: Author, tasks: &TaskStore) -> Result<Task, TaskError> {
        tasks.create_as(author, self.subject, self.description.unwrap_or_default())
    }
}

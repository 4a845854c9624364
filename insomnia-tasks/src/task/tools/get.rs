use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    task::{Task, TaskError, TaskId, TaskStore},
    tool::Tool,
};

/// Read one task with its description.
#[derive(Clone, Debug, Deserialize, JsonSchema, Tool)]
pub struct TaskGet {
    /// The task's id
    pub taskid: TaskId,
}

impl TaskGet {
    pub(super) fn apply(self, tasks: &TaskStore) -> Result<Task, TaskError> {
        tasks.get(self.taskid).ok_or_else(|| tasks.unknown(self.taskid))
    }
}

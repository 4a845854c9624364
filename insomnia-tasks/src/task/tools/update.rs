use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    task::{Task, TaskError, TaskId, TaskPatch, TaskStatus, TaskStore, store::Author},
    tool::Tool,
};

/// Change a task. Keep statuses current: inprogress when you start on it, completed when it is done, deleted when it is
/// no longer wanted. Several calls may stand in one answer.
#[derive(Clone, Debug, Deserialize, JsonSchema, Tool)]
pub struct TaskUpdate {
    /// The task's id
    pub taskid: TaskId,
    /// The new status
    pub status: Option<TaskStatus>,
    /// The new subject
    pub subject: Option<String>,
    /// The new description
    pub description: Option<String>,
}

impl TaskUpdate {
    pub(super) fn apply(self, author: Author, tasks: &TaskStore) -> Result<Task, TaskError> {
        tasks.update_as(author, self.taskid, self.patch())
    }

    pub(in crate::task) fn patch(self) -> TaskPatch {
        TaskPatch { status: self.status, subject: self.subject, description: self.description }
    }
}

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    task::{Task, TaskCounts, TaskId, TaskStatus, TaskStore},
    tool::Tool,
};

/// Read the task list, without descriptions.
#[derive(Clone, Debug, Deserialize, JsonSchema, Tool)]
pub struct TaskList {
    /// Only tasks with this status
    pub status: Option<TaskStatus>,
}

/// What the model sees of one task in the list, and of a task that it changed.
#[derive(Serialize)]
pub(super) struct Line {
    pub(super) taskid: TaskId,
    pub(super) status: TaskStatus,
    pub(super) subject: String,
}

#[derive(Serialize)]
pub(super) struct Listing {
    tasks: Vec<Line>,
    counts: TaskCounts,
}

impl TaskList {
    pub(super) fn apply(self, tasks: &TaskStore) -> Listing {
        let all = tasks.list().into_iter();
        let wanted = all.filter(|task| self.status.is_none_or(|status| status == task.status));
        Listing { tasks: wanted.map(Line::from).collect(), counts: tasks.counts() }
    }
}

impl From<Task> for Line {
    fn from(Task { taskid, status, subject, .. }: Task) -> Self {
        Self { taskid, status, subject }
    }
}

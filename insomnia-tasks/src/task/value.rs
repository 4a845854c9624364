use serde::{Deserialize, Serialize};

use super::{TaskId, TaskStatus};

/// The most bytes of a subject.
pub const SUBJECT_LIMIT: usize = 1_000;

/// The most bytes of a description.
pub const DESCRIPTION_LIMIT: usize = 16_384;

/// One task of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its id, given by the store.
    pub taskid: TaskId,
    /// Where it stands.
    pub status: TaskStatus,
    /// What is to be done, in one line; at most [`SUBJECT_LIMIT`] bytes.
    pub subject: String,
    /// What else is to be known; at most [`DESCRIPTION_LIMIT`] bytes.
    pub description: String,
}

/// The changes to one task; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskPatch {
    /// The new status.
    pub status: Option<TaskStatus>,
    /// The new subject.
    pub subject: Option<String>,
    /// The new description.
    pub description: Option<String>,
}

impl From<TaskStatus> for TaskPatch {
    fn from(status: TaskStatus) -> Self {
        Self { status: Some(status), ..Self::default() }
    }
}

impl TaskPatch {
    pub(super) fn check(&self) -> Result<(), TaskError> {
        if self == &Self::default() {
            return Err(TaskError::NothingToChange);
        }
        self.subject.as_deref().map_or(Ok(()), check_subject)?;
        self.description.as_deref().map_or(Ok(()), check_description)
    }

    pub(super) fn apply(self, task: &mut Task) {
        let Self { status, subject, description } = self;
        task.status = status.unwrap_or(task.status);
        if let Some(subject) = subject {
            task.subject = subject;
        }
        if let Some(description) = description {
            task.description = description;
        }
    }
}

pub(super) fn check_subject(subject: &str) -> Result<(), TaskError> {
    match subject {
        _ if subject.trim().is_empty() => Err(TaskError::EmptySubject),
        _ if subject.len() > SUBJECT_LIMIT => Err(TaskError::SubjectTooLong { bytes: subject.len() }),
        _ => Ok(()),
    }
}

pub(super) fn check_description(description: &str) -> Result<(), TaskError> {
    match description.len() {
        bytes if bytes > DESCRIPTION_LIMIT => Err(TaskError::DescriptionTooLong { bytes }),
        _ => Ok(()),
    }
}

/// Why the store refused a change. Nothing was stored; the message tells a model what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// No task has this id.
    #[error("there is no task {taskid}; {}", active_ids(.active))]
    Unknown {
        /// The id that was asked for.
        taskid: TaskId,
        /// The ids of the active tasks, at most 20.
        active: Vec<TaskId>,
    },
    /// The subject is empty or white space.
    #[error("the subject is empty; say in one line what is to be done (at most {SUBJECT_LIMIT} bytes)")]
    EmptySubject,
    /// The subject is over [`SUBJECT_LIMIT`].
    #[error("the subject has {bytes} bytes; at most {SUBJECT_LIMIT} are kept, put details into the description")]
    SubjectTooLong {
        /// Its size.
        bytes: usize,
    },
    /// The description is over [`DESCRIPTION_LIMIT`].
    #[error("the description has {bytes} bytes; at most {DESCRIPTION_LIMIT} are kept")]
    DescriptionTooLong {
        /// Its size.
        bytes: usize,
    },
    /// The patch changes nothing.
    #[error("nothing to change; give at least one of status, subject and description")]
    NothingToChange,
}

fn active_ids(active: &[TaskId]) -> String {
    if active.is_empty() {
        return "no task is active, TaskList shows all".to_owned();
    }
    let ids: Vec<_> = active.iter().map(TaskId::to_string).collect();
    format!("active: {}", ids.join(", "))
}

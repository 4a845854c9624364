use tokio::sync::broadcast;

use super::Task;

/// One change of the store, told to its subscribers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskChange {
    /// A task is new.
    Created(Task),
    /// A task has changed; this is how it is now.
    Updated(Task),
    /// Changes were passed over because the subscriber was slow, or the whole store was replaced: read the list anew.
    Reread,
}

/// A subscription to a [`TaskStore`](super::TaskStore)'s changes, from the moment it was made.
///
/// The store never waits for a subscriber: one that is 256 changes behind gets [`TaskChange::Reread`] in place of what it
/// missed.
///
/// ```
/// use insomnia_tasks::task::{TaskChange, TaskStore};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let tasks = TaskStore::new();
/// let mut changes = tasks.subscribe();
/// tasks.create("Write the parser", "")?;
/// drop(tasks); // a session ends
/// while let Some(change) = changes.next().await {
///     match change {
///         TaskChange::Created(task) | TaskChange::Updated(task) => println!("{} {}", task.status, task.subject),
///         _ => println!("look at the whole list again"),
///     }
/// }
/// # Ok::<(), insomnia_tasks::task::TaskError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TaskChanges(broadcast::Receiver<TaskChange>);

impl TaskChanges {
    pub(super) fn new(receiver: broadcast::Receiver<TaskChange>) -> Self {
        Self(receiver)
    }

    /// Waits for the next change; `None` once the store is gone. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<TaskChange> {
        match self.0.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(TaskChange::Reread),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }

    /// The next change if there is one already.
    pub fn try_next(&mut self) -> Option<TaskChange> {
        match self.0.try_recv() {
            Ok(change) => Some(change),
            Err(broadcast::error::TryRecvError::Lagged(_)) => Some(TaskChange::Reread),
            Err(_) => None,
        }
    }
}

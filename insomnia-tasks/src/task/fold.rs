use serde::Deserialize;

use super::{
    Task, TaskId, TaskStatus, TaskStore,
    tools::{TaskToolbox, changes_tasks},
};
use crate::{Item, ItemKind, ToolCall, wire::Rounds};

/// Rebuilds the tasks of a session from its history, one item at a time.
///
/// A call counts if its result stands in the same round and tells of success: what the model asked for but was never
/// carried out, or carried out but never recorded, leaves no task.
///
/// ```
/// use insomnia_tasks::{Item, task::{TaskFold, TaskStore}};
///
/// let tasks = TaskStore::new();
/// let mut fold = TaskFold::new(tasks.clone());
/// fold.push(&Item::from_json(r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function",
///     "function":{"name":"TaskCreate","arguments":"{\"subject\":\"Write the parser\",\"description\":\"\"}"}}]}"#)?);
/// fold.push(&Item::tool_message("a", r#"{"taskid":1,"status":"pending","subject":"Write the parser"}"#));
/// assert_eq!(tasks.list().len(), 1);
/// # Ok::<(), insomnia_tasks::ItemError>(())
/// ```
#[derive(Debug)]
pub struct TaskFold {
    tasks: TaskStore,
    rounds: Rounds,
}

impl TaskFold {
    /// A fold into this store.
    pub fn new(tasks: TaskStore) -> Self {
        Self { tasks, rounds: Rounds::default() }
    }

    /// Takes in the next item of the history.
    pub fn push(&mut self, item: &Item) {
        let answered = self.rounds.push(item);
        if let (ItemKind::Tool, Some(call), Some(result)) = (item.kind(), answered, item.text()) {
            self.apply(&call, &result);
        }
    }

    /// Takes in an item whose outcome is in the store already; only results that follow are paired with its calls.
    #[cfg(feature = "client")]
    pub(crate) fn pass(&mut self, item: &Item) {
        self.rounds.push(item);
    }

    fn apply(&self, call: &ToolCall, result: &str) {
        if !changes_tasks(&call.name) {
            return;
        }
        let Ok(Done { taskid }) = serde_json::from_str(result) else { return };
        match TaskToolbox::decode_call(call) {
            Ok(TaskToolbox::TaskCreate(create)) => self.tasks.set(Task {
                taskid,
                status: TaskStatus::Pending,
                subject: create.subject,
                description: create.description.unwrap_or_default(),
            }),
            Ok(TaskToolbox::TaskUpdate(update)) => {
                if let Some(mut task) = self.tasks.get(taskid) {
                    update.patch().apply(&mut task);
                    self.tasks.set(task);
                }
            }
            _ => {}
        }
    }
}

/// What a result tells when the call was carried out; every other result has no `taskid`.
#[derive(Deserialize)]
struct Done {
    taskid: TaskId,
}

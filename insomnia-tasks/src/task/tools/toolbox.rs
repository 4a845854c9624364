use serde::Serialize;

use super::{TaskCreate, TaskGet, TaskList, TaskUpdate, list::Line};
use crate::{
    ToolCall,
    task::{Task, TaskError, TaskStore, store::Author},
    tool::{DecodeError, IntoToolOutput, Run, Tool, ToolError, Toolbox},
};

/// A decoded call of one of the four task tools.
#[derive(Clone, Debug, Toolbox)]
pub enum TaskToolbox {
    /// A new task.
    TaskCreate(TaskCreate),
    /// A changed task.
    TaskUpdate(TaskUpdate),
    /// The list.
    TaskList(TaskList),
    /// One task.
    TaskGet(TaskGet),
}

impl TaskToolbox {
    /// Reads a call by its name and arguments.
    ///
    /// # Errors
    /// If it is no call of a task tool, or its arguments cannot be understood.
    pub fn decode_call(call: &ToolCall) -> Result<Self, DecodeError> {
        Self::decode(&call.name, &call.arguments)
    }

    /// Carries out the call; the result is compact JSON for the model.
    ///
    /// # Errors
    /// If the store refuses; the message tells the model what to do, and nothing was stored.
    pub fn apply(self, tasks: &TaskStore) -> Result<String, ToolError> {
        self.apply_as(Author::Host, tasks)
    }

    pub(crate) fn apply_as(self, author: Author, tasks: &TaskStore) -> Result<String, ToolError> {
        match self {
            Self::TaskCreate(create) => changed(create.apply(author, tasks)),
            Self::TaskUpdate(update) => changed(update.apply(author, tasks)),
            Self::TaskList(list) => Ok(json(&list.apply(tasks))),
            Self::TaskGet(get) => get.apply(tasks).map(|task| json(&task)).map_err(ToolError::from_error),
        }
    }
}

/// The tasks of a session, as the model's own calls change them: the history has those calls, so that nothing else need be
/// recorded. Whoever runs the tools on a [`TaskStore`], a sub-agent of the host for instance, changes tasks as the host does.
pub(crate) struct SessionTasks(pub(crate) TaskStore);

macro_rules! run {
    ($($tool:ident)*) => {$(
        impl Run<TaskStore> for $tool {
            async fn run(self, tasks: &TaskStore) -> Result<impl IntoToolOutput, ToolError> {
                TaskToolbox::$tool(self).apply(tasks)
            }
        }

        impl Run<SessionTasks> for $tool {
            async fn run(self, tasks: &SessionTasks) -> Result<impl IntoToolOutput, ToolError> {
                TaskToolbox::$tool(self).apply_as(Author::Model, &tasks.0)
            }
        }
    )*};
}

run!(TaskCreate TaskUpdate TaskList TaskGet);

/// Whether a call of this name changes tasks, and so shows that the model keeps its list.
pub fn changes_tasks(name: &str) -> bool {
    [TaskCreate::NAME, TaskUpdate::NAME].contains(&name)
}

/// Whether this is the name of one of the four task tools.
pub fn is_task_tool(name: &str) -> bool {
    changes_tasks(name) || [TaskList::NAME, TaskGet::NAME].contains(&name)
}

/// Create and update show the changed task without its description, which the model has just written itself.
fn changed(task: Result<Task, TaskError>) -> Result<String, ToolError> {
    task.map(|task| json(&Line::from(task))).map_err(ToolError::from_error)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_as_the_loop_reads_it() {
        for arguments in [r#"{"subject":"x"}{}"#, r#"{"subject":"x"} He said "done"."#] {
            let call = ToolCall { id: String::new(), name: "TaskCreate".to_owned(), arguments: arguments.to_owned() };
            let Ok(TaskToolbox::TaskCreate(create)) = TaskToolbox::decode_call(&call) else { panic!("{arguments}") };
            assert_eq!(create.subject, "x");
        }
    }
}

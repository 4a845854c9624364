use insomnia_tasks::{
    Cost,
    task::{Task, TaskChange, TaskStore},
    worker::{Compacted, Event, Turn, TurnError},
};

use crate::{
    args::Output,
    endpoint::Endpoint,
    hints::hint,
    json,
    session::Opened,
    terminal::{DIM, WARN, note, one_line, visible},
    text::Text,
};

/// Shows what happens, in the form that was asked for.
pub(crate) enum Screen {
    Text(Box<Text>),
    Json,
}

impl Screen {
    pub(crate) fn new(output: Output, tasks: &TaskStore) -> Self {
        match output {
            Output::Text => Self::Text(Box::new(Text::new(tasks))),
            Output::Json => Self::Json,
        }
    }

    pub(crate) fn opened(&self, opened: &Opened, endpoint: &Endpoint) {
        if endpoint.demo.is_some() {
            note!(
                "{WARN}This is the demo: a built-in server on loopback that follows a script, no language model.{WARN:#}"
            );
            note!("{DIM}For a real one give --base-url and --model, or set OPENAI_API_KEY.{DIM:#}");
        }
        for damage in opened.pod.damage() {
            note!("warning: {}", visible(&damage.to_string()));
        }
        match self {
            Self::Text(text) => text.opened(opened, endpoint),
            Self::Json => json::opened(opened, endpoint),
        }
    }

    /// `typed` if the prompt stands on the terminal already.
    pub(crate) fn turn_started(&self, prompt: &str, typed: bool) {
        match self {
            Self::Text(text) => text.turn_started(prompt, typed),
            Self::Json => json::turn_started(prompt),
        }
    }

    pub(crate) fn event(&self, event: &Event) {
        match self {
            Self::Text(text) => text.event(event),
            Self::Json => json::event(event),
        }
    }

    pub(crate) fn tasks_changed(&self, changed: &[TaskChange], tasks: &TaskStore) {
        match self {
            Self::Text(text) => text.tasks_changed(),
            Self::Json => json::tasks_changed(changed, tasks),
        }
    }

    /// Shows the task list because somebody asked for it; a long one folded unless `all` of it is asked for.
    pub(crate) fn tasks(&self, tasks: &TaskStore, all: bool) {
        match self {
            Self::Text(text) => text.tasks(all),
            Self::Json => json::tasks(tasks),
        }
    }

    /// Shows a task that the person has changed.
    pub(crate) fn task_edited(&self, task: &Task) {
        match self {
            Self::Text(text) => text.task_edited(task),
            Self::Json => json::task(task),
        }
    }

    pub(crate) fn turn_finished(&self, turn: &Turn) {
        match self {
            Self::Text(text) => text.turn_finished(turn),
            Self::Json => json::turn_finished(turn),
        }
    }

    pub(crate) fn turn_failed(&self, error: &TurnError) {
        match self {
            Self::Text(text) => text.turn_failed(error),
            Self::Json => {
                json::turn_failed(error);
                note!("error: {}", visible(&error.to_string()));
                if let Some(hint) = hint(error) {
                    note!("hint: {hint}");
                }
            }
        }
    }

    /// Something other than a turn takes its time.
    pub(crate) fn working(&self, what: &str) {
        if let Self::Text(text) = self {
            text.working(what);
        }
    }

    pub(crate) fn worked(&self) {
        if let Self::Text(text) = self {
            text.worked();
        }
    }

    pub(crate) fn compacted(&self, compacted: &Compacted) {
        let replaced = match compacted.replaced {
            1 => "1 message is".to_owned(),
            more => format!("{more} messages are"),
        };
        note!("{replaced} now sent as a summary: {}", one_line(&compacted.summary, 200));
        if let Self::Json = self {
            json::compacted(compacted);
        }
    }

    pub(crate) fn turn_cancelled(&self) {
        match self {
            Self::Text(text) => text.turn_cancelled(),
            Self::Json => json::turn_cancelled(),
        }
    }

    /// Says what tasks and reminders have cost, where the session is and how to go on with it.
    pub(crate) fn closed(&self, cost: &Cost, folder: &str, resume: &str) {
        match self {
            Self::Text(text) => text.closed(cost, folder, resume),
            Self::Json => note!("{cost}"),
        }
    }
}

use insomnia_tasks::{
    task::{TaskChange, TaskStore},
    worker::{Event, Turn, TurnError},
};

use crate::{args::Output, endpoint::Endpoint, json, session::Opened, text::Text};

/// Shows what happens, in the form that was asked for.
pub(crate) enum Screen {
    Text(Text),
    Json,
}

impl Screen {
    pub(crate) fn new(output: Output) -> Self {
        match output {
            Output::Text => Self::Text(Text::new()),
            Output::Json => Self::Json,
        }
    }

    pub(crate) fn opened(&self, opened: &Opened, endpoint: &Endpoint) {
        match self {
            Self::Text(text) => text.opened(opened, endpoint),
            Self::Json => json::opened(opened, endpoint),
        }
    }

    pub(crate) fn turn_started(&self, prompt: &str) {
        match self {
            Self::Text(_) => {}
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
            Self::Text(text) => text.tasks_changed(tasks),
            Self::Json => json::tasks_changed(changed, tasks),
        }
    }

    /// Shows the task list because somebody asked for it.
    pub(crate) fn tasks(&self, tasks: &TaskStore) {
        match self {
            Self::Text(text) => text.tasks(tasks),
            Self::Json => json::tasks(tasks),
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
            Self::Json => json::turn_failed(error),
        }
    }

    pub(crate) fn turn_cancelled(&self) {
        match self {
            Self::Text(text) => text.turn_cancelled(),
            Self::Json => json::turn_cancelled(),
        }
    }

    pub(crate) fn closed(&self, opened: &Opened) {
        match self {
            Self::Text(text) => text.closed(opened),
            Self::Json => {}
        }
    }
}

//! One JSON object a line on stdout, each with its name in `event`; `docs/chat-json.md` describes them.

use std::borrow::Cow;

use insomnia_tasks::{
    reminder::{Decision, Quiet},
    task::{Task, TaskChange, TaskStore},
    wire::{ModelError, ModelErrorKind, Usage},
    worker::{Event, Turn, TurnError},
};
use serde::Serialize;
use serde_json::Value;

use crate::{endpoint::Endpoint, session::Opened, terminal::write_json};

/// Everything that can be printed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Line<'a> {
    SessionOpened {
        session: Cow<'a, str>,
        messages: usize,
        damage: Vec<String>,
        model: &'a str,
        base_url: String,
        demo: bool,
    },
    TurnStarted {
        prompt: &'a str,
    },
    RequestStarted {
        request: u64,
    },
    TextDelta {
        text: &'a str,
    },
    ReasoningDelta {
        text: &'a str,
    },
    Usage {
        #[cfg_attr(test, schemars(with = "Value"))]
        usage: &'a Usage,
    },
    RequestFinished {
        request: u64,
        finish_reason: Option<&'a str>,
    },
    ToolStarted {
        id: &'a str,
        name: &'a str,
        arguments: &'a str,
    },
    ToolFinished {
        id: &'a str,
        name: &'a str,
        ok: bool,
        result: &'a str,
    },
    Task {
        #[cfg_attr(test, schemars(with = "Value"))]
        task: &'a Task,
    },
    Reminder {
        fired: bool,
        tokens: Option<usize>,
        reason: Option<&'static str>,
        requests_ago: Option<u64>,
    },
    Retrying {
        wait_ms: u128,
        error: &'a str,
        void: bool,
    },
    DialectChanged {
        dialect: Value,
    },
    TurnFinished {
        text: &'a str,
        requests: u64,
    },
    TurnFailed {
        kind: &'static str,
        error: String,
        status: Option<u16>,
    },
    TurnCancelled {},
}

impl Line<'_> {
    fn print(&self) {
        if let Ok(json) = serde_json::to_string(self) {
            // a reader that has gone away ends nothing: the session goes on to be stored
            let _ = write_json(&json);
        }
    }
}

pub(crate) fn opened(opened: &Opened, endpoint: &Endpoint) {
    Line::SessionOpened {
        session: opened.folder.to_string_lossy(),
        messages: opened.pod.history().len(),
        damage: opened.pod.damage().iter().map(ToString::to_string).collect(),
        model: &endpoint.model,
        base_url: endpoint.shown_url(),
        demo: endpoint.demo.is_some(),
    }
    .print();
}

pub(crate) fn turn_started(prompt: &str) {
    Line::TurnStarted { prompt }.print();
}

pub(crate) fn event(event: &Event) {
    match event {
        Event::RequestStarted { number } => Line::RequestStarted { request: *number },
        Event::TextDelta(text) => Line::TextDelta { text },
        Event::ReasoningDelta(text) => Line::ReasoningDelta { text },
        Event::RequestFinished { number, finish_reason } => {
            Line::RequestFinished { request: *number, finish_reason: finish_reason.as_deref() }
        }
        Event::Usage(usage) => Line::Usage { usage },
        Event::ReminderDecided(decision) => reminder(decision),
        Event::ToolStarted { id, name, arguments } => Line::ToolStarted { id, name, arguments },
        Event::ToolFinished { id, name, ok, result } => Line::ToolFinished { id, name, ok: *ok, result },
        Event::Retrying { wait, error, void } => Line::Retrying { wait_ms: wait.as_millis(), error, void: *void },
        Event::DialectChanged(dialect) => {
            Line::DialectChanged { dialect: serde_json::to_value(dialect).unwrap_or_default() }
        }
        _ => return,
    }
    .print();
}

fn reminder(decision: &Decision) -> Line<'static> {
    let quiet =
        |reason, requests_ago| Line::Reminder { fired: false, tokens: None, reason: Some(reason), requests_ago };
    match *decision {
        Decision::Remind { tokens } => {
            Line::Reminder { fired: true, tokens: Some(tokens), reason: None, requests_ago: None }
        }
        Decision::Quiet(Quiet::NoActiveTask) => quiet("no_active_task", None),
        Decision::Quiet(Quiet::ToolsNotOffered) => quiet("tools_not_offered", None),
        Decision::Quiet(Quiet::Paused) => quiet("paused", None),
        Decision::Quiet(Quiet::UsedRecently { requests_ago }) => quiet("used_recently", Some(requests_ago)),
        Decision::Quiet(Quiet::CoolingDown { requests_ago }) => quiet("cooling_down", Some(requests_ago)),
        _ => quiet("other", None),
    }
}

pub(crate) fn tasks_changed(changed: &[TaskChange], tasks: &TaskStore) {
    for change in changed {
        match change {
            TaskChange::Created(task) | TaskChange::Updated(task) => Line::Task { task }.print(),
            _ => self::tasks(tasks),
        }
    }
}

pub(crate) fn task(task: &Task) {
    Line::Task { task }.print();
}

pub(crate) fn tasks(tasks: &TaskStore) {
    tasks.list().iter().for_each(|task| Line::Task { task }.print());
}

pub(crate) fn turn_finished(turn: &Turn) {
    Line::TurnFinished { text: &turn.text, requests: turn.requests }.print();
}

pub(crate) fn turn_failed(error: &TurnError) {
    let status = error.model().and_then(ModelError::status);
    Line::TurnFailed { kind: kind(error), error: error.to_string(), status }.print();
}

pub(crate) fn turn_cancelled() {
    Line::TurnCancelled {}.print();
}

fn kind(error: &TurnError) -> &'static str {
    match error {
        TurnError::Model(error) => match error.kind() {
            ModelErrorKind::Auth => "auth",
            ModelErrorKind::RateLimited { .. } => "rate_limited",
            ModelErrorKind::ContextLength => "context_length",
            ModelErrorKind::InvalidRequest => "invalid_request",
            ModelErrorKind::ModelNotFound => "model_not_found",
            ModelErrorKind::Billing => "billing",
            ModelErrorKind::Server => "server",
            ModelErrorKind::Malformed => "malformed",
            ModelErrorKind::Interrupted => "interrupted",
            ModelErrorKind::Timeout => "timeout",
            ModelErrorKind::Connect => "connect",
            _ => "other",
        },
        TurnError::Journal(_) => "storage",
        TurnError::RequestLimit { .. } => "request_limit",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    const PAGE: &str = include_str!("../../../../docs/chat-json.md");

    /// The names in backticks of a table's cell.
    fn names(cell: &str) -> BTreeSet<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn the_page_lists_every_event_with_its_fields() {
        let schema = schemars::schema_for!(Line<'static>).to_value();
        let lines = schema["oneOf"].as_array().unwrap().iter();
        let printed: BTreeMap<_, BTreeSet<_>> = lines
            .map(|line| {
                let fields = line["properties"].as_object().unwrap();
                let event = fields["event"]["const"].as_str().unwrap().to_owned();
                (event, fields.keys().filter(|field| *field != "event").cloned().collect())
            })
            .collect();
        let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
        let documented: BTreeMap<_, _> = rows
            .map(|row| {
                let cells: Vec<_> = row.split('|').collect();
                (names(cells[1]).into_iter().next().unwrap(), names(cells[3]))
            })
            .collect();
        assert_eq!(documented, printed);
        assert!(printed.len() > 10);
    }

    #[test]
    fn the_page_lists_every_reason_and_kind() {
        let source = include_str!("json.rs");
        let source = source.split("#[cfg(test)]\nmod tests").next().unwrap();
        let words = source.split('"').skip(1).step_by(2);
        let words: Vec<_> = words.filter(|word| !word.contains(['.', '(']) && *word != "event").collect();
        for word in words {
            assert!(PAGE.contains(&format!("`{word}`")) || word == "snake_case" || word == "Value", "{word}");
        }
    }
}

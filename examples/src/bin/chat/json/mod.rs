//! One JSON object a line on stdout, each with its name in `event`; `docs/chat-json.md` describes them, and
//! `docs/chat-json.schema.json` for programs.

mod line;
#[cfg(test)]
mod tests;

use insomnia_tasks::{
    reminder::{Decision, Quiet},
    task::{Task, TaskChange, TaskStore},
    wire::{ModelError, ModelErrorKind},
    worker::{Compacted, Event, Turn, TurnError},
};

use crate::{endpoint::Endpoint, session::Opened};
use line::{Kind, Line, Reason};

pub(crate) fn opened(opened: &Opened, endpoint: &Endpoint) {
    Line::SessionOpened {
        session: opened.place.clone(),
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
        Event::Compacted(compacted) => return self::compacted(compacted),
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
        Decision::Quiet(Quiet::NoActiveTask) => quiet(Reason::NoActiveTask, None),
        Decision::Quiet(Quiet::ToolsNotOffered) => quiet(Reason::ToolsNotOffered, None),
        Decision::Quiet(Quiet::Paused) => quiet(Reason::Paused, None),
        Decision::Quiet(Quiet::UsedRecently { requests_ago }) => quiet(Reason::UsedRecently, Some(requests_ago)),
        Decision::Quiet(Quiet::CoolingDown { requests_ago }) => quiet(Reason::CoolingDown, Some(requests_ago)),
        _ => quiet(Reason::Other, None),
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

pub(crate) fn compacted(compacted: &Compacted) {
    Line::Compacted { replaced: compacted.replaced, summary: &compacted.summary }.print();
}

pub(crate) fn turn_cancelled() {
    Line::TurnCancelled {}.print();
}

fn kind(error: &TurnError) -> Kind {
    match error {
        TurnError::Model(error) => match error.kind() {
            ModelErrorKind::Auth => Kind::Auth,
            ModelErrorKind::RateLimited { .. } => Kind::RateLimited,
            ModelErrorKind::ContextLength => Kind::ContextLength,
            ModelErrorKind::InvalidRequest => Kind::InvalidRequest,
            ModelErrorKind::ModelNotFound => Kind::ModelNotFound,
            ModelErrorKind::Billing => Kind::Billing,
            ModelErrorKind::Server => Kind::Server,
            ModelErrorKind::Malformed => Kind::Malformed,
            ModelErrorKind::Interrupted => Kind::Interrupted,
            ModelErrorKind::Timeout => Kind::Timeout,
            ModelErrorKind::Connect => Kind::Connect,
            _ => Kind::Other,
        },
        TurnError::Journal(_) => Kind::Storage,
        TurnError::RequestLimit { .. } => Kind::RequestLimit,
        _ => Kind::Other,
    }
}

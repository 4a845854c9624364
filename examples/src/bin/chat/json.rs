//! One JSON object a line on stdout, each with its name in `event`.

use std::io::{Write, stdout};

use insomnia_tasks::{
    reminder::{Decision, Quiet},
    task::{TaskChange, TaskStore},
    wire::{ModelError, ModelErrorKind},
    worker::{Event, Turn, TurnError},
};
use serde_json::{Value, json};

use crate::{endpoint::Endpoint, session::Opened};

pub(crate) fn opened(opened: &Opened, endpoint: &Endpoint) {
    print(&json!({
        "event": "session_opened",
        "session": opened.folder,
        "messages": opened.pod.history().len(),
        "model": endpoint.model,
        "base_url": endpoint.base_url,
        "demo": endpoint.demo.is_some(),
    }));
}

pub(crate) fn turn_started(prompt: &str) {
    print(&json!({"event": "turn_started", "prompt": prompt}));
}

pub(crate) fn event(event: &Event) {
    let line = match event {
        Event::RequestStarted { number } => json!({"event": "request_started", "request": number}),
        Event::TextDelta(text) => json!({"event": "text_delta", "text": text}),
        Event::ReasoningDelta(text) => json!({"event": "reasoning_delta", "text": text}),
        Event::RequestFinished { number, finish_reason } => {
            json!({"event": "request_finished", "request": number, "finish_reason": finish_reason})
        }
        Event::Usage(usage) => json!({"event": "usage", "usage": usage}),
        Event::ReminderDecided(decision) => reminder(decision),
        Event::ToolStarted { id, name, arguments } => {
            json!({"event": "tool_started", "id": id, "name": name, "arguments": arguments})
        }
        Event::ToolFinished { id, name, ok, result } => {
            json!({"event": "tool_finished", "id": id, "name": name, "ok": ok, "result": result})
        }
        Event::Retrying { wait, error } => {
            json!({"event": "retrying", "wait_ms": wait.as_millis() as u64, "error": error})
        }
        Event::DialectChanged(dialect) => json!({"event": "dialect_changed", "dialect": dialect}),
        _ => return,
    };
    print(&line);
}

fn reminder(decision: &Decision) -> Value {
    match decision {
        Decision::Remind { tokens } => json!({"event": "reminder", "fired": true, "tokens": tokens}),
        Decision::Quiet(why) => {
            let (reason, requests_ago) = match why {
                Quiet::NoActiveTask => ("no_active_task", None),
                Quiet::ToolsNotOffered => ("tools_not_offered", None),
                Quiet::Paused => ("paused", None),
                Quiet::UsedRecently { requests_ago } => ("used_recently", Some(requests_ago)),
                Quiet::CoolingDown { requests_ago } => ("cooling_down", Some(requests_ago)),
                _ => ("other", None),
            };
            json!({"event": "reminder", "fired": false, "reason": reason, "requests_ago": requests_ago})
        }
        _ => json!({"event": "reminder", "fired": false, "reason": "other"}),
    }
}

pub(crate) fn tasks_changed(changed: &[TaskChange], tasks: &TaskStore) {
    for change in changed {
        match change {
            TaskChange::Created(task) | TaskChange::Updated(task) => print(&json!({"event": "task", "task": task})),
            _ => self::tasks(tasks),
        }
    }
}

pub(crate) fn tasks(tasks: &TaskStore) {
    tasks.list().iter().for_each(|task| print(&json!({"event": "task", "task": task})));
}

pub(crate) fn turn_finished(turn: &Turn) {
    print(&json!({"event": "turn_finished", "text": turn.text, "requests": turn.requests}));
}

pub(crate) fn turn_failed(error: &TurnError) {
    let status = error.model().and_then(ModelError::status);
    print(&json!({"event": "turn_failed", "kind": kind(error), "error": error.to_string(), "status": status}));
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

pub(crate) fn turn_cancelled() {
    print(&json!({"event": "turn_cancelled"}));
}

fn print(line: &Value) {
    let mut out = stdout().lock();
    // a reader that has gone away ends nothing: the session goes on to be stored
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

use std::path::Path;

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{
    Item, Pod,
    pod::{PodBuilder, ReminderPlacement},
    reminder::Cadence,
    wire::{Dialect, LateSystem, Projection},
    worker::WorkerSettings,
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::{Value, json};

/// A session in this folder with the model behind this server. Late system messages are sent as they are stored.
pub(crate) fn builder(server: &ScriptedServer, folder: &Path) -> PodBuilder {
    let config = OpenAIConfig::new().with_api_base(server.base_url()).with_api_key("k");
    let mut settings = WorkerSettings::default();
    settings.retries.retries = 0;
    Pod::builder(&Client::with_config(config), "m")
        .settings(settings)
        .instructions("Be brief.")
        .reminder(ReminderPlacement::Fixed(LateSystem::System))
        .cadence(Cadence::new(1, 2).unwrap())
        .session(folder)
}

pub(crate) async fn open(server: &ScriptedServer, folder: &Path) -> Pod {
    builder(server, folder).build().await.unwrap()
}

pub(crate) fn create(subject: &str) -> (&'static str, Value) {
    ("TaskCreate", json!({"subject": subject, "description": ""}))
}

pub(crate) fn update(taskid: u64, status: &str) -> (&'static str, Value) {
    ("TaskUpdate", json!({"taskid": taskid, "status": status}))
}

/// Turns that each create a task, work on it, and say so.
pub(crate) fn three_requests_a_turn(number: usize) -> Reply {
    let turn = number / 3 + 1;
    match number % 3 {
        0 => Reply::calls([create(&format!("task {turn}")), ("TaskList", json!({}))]),
        1 => Reply::text_and_calls("working", [update(turn as u64, "inprogress")]),
        _ => Reply::text(format!("turn {turn} is done")),
    }
}

/// Every record of the session's file, which must be valid JSON.
pub(crate) fn records(folder: &Path) -> Vec<Value> {
    serde_json::from_slice(&std::fs::read(folder.join("history.json")).unwrap()).unwrap()
}

pub(crate) fn texts(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| item.json().to_owned()).collect()
}

/// What a request would carry.
pub(crate) fn view(items: &[Item]) -> Vec<Value> {
    let mut projection = Projection::new(Dialect::default(), None);
    projection.extend(items);
    projection.messages().iter().map(|message| serde_json::from_str(message.get()).unwrap()).collect()
}

/// Every call has exactly one result, right behind its message, and no result is without a call.
#[track_caller]
pub(crate) fn check_pairs(messages: &[Value]) {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            let place = open.iter().position(|call| call == id);
            open.remove(place.unwrap_or_else(|| panic!("a result without a call: {message}")));
            continue;
        }
        assert!(open.is_empty(), "calls without a result before {message}: {open:?}");
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        open.extend(calls.iter().map(|call| call["id"].as_str().unwrap().to_owned()));
    }
    assert!(open.is_empty(), "calls without a result at the end: {open:?}");
}

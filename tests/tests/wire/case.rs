//! A case of `tests/data/wire_cases.jsonl`: what to ask, what the server answers, what must come of it.

use std::time::Duration;

use insomnia_tasks::{
    Item, ToolDefinition, ToolOutput, ToolSet,
    tool::DefinitionError,
    worker::{WorkerBuilder, WorkerSettings},
};
use insomnia_tasks_examples::scripted::{End, Reply};
use serde_json::{Map, Value, json};

const TOOLS: [&str; 4] = ["task_list", "task_get", "task_create", "task_update"];

#[derive(Clone)]
pub(crate) struct Case(pub(crate) Value, reqwest::Client);

pub(crate) fn cases() -> Vec<Case> {
    let file = include_str!("../../data/wire_cases.jsonl");
    let http = reqwest::Client::new();
    file.lines().map(|line| Case(serde_json::from_str(line).unwrap(), http.clone())).collect()
}

impl Case {
    pub(crate) fn id(&self) -> &str {
        self.0["id"].as_str().unwrap()
    }

    pub(crate) fn expect(&self) -> &Value {
        &self.0["expect"]
    }

    /// What the server demands of requests.
    pub(crate) fn rule(&self) -> Option<&Value> {
        Some(&self.expect()["must_send"]).filter(|rule| rule.is_object())
    }

    /// The parameter that the rule forbids, if it is about one.
    pub(crate) fn forbidden_parameter(&self) -> Option<&str> {
        self.rule().filter(|rule| rule["rule"] == "no_param").and_then(|rule| rule["param"].as_str())
    }

    pub(crate) fn streams(&self) -> bool {
        self.0["request_hint"]["stream"] == true
    }

    pub(crate) fn status(&self) -> Option<u16> {
        self.0["status"].as_u64().map(|status| status as u16)
    }

    pub(crate) fn refuses(&self) -> bool {
        self.status().is_none_or(|status| status >= 400)
    }

    /// The server's reply, byte for byte; none where the case is about the request alone.
    pub(crate) fn reply(&self) -> Option<Reply> {
        let body = match (self.0["body"].as_str(), self.0["body_base64"].as_str()) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(encoded)) => from_base64(encoded),
            (None, None) => return None,
        };
        let mut reply = Reply::raw(self.status()?, body);
        for (name, value) in self.0["headers"].as_object().into_iter().flatten() {
            reply = reply.header(name, value.as_str().unwrap());
        }
        if let Some(offsets) = self.0["delivery"]["split_at"].as_array() {
            reply = reply.split_at(offsets.iter().map(|offset| offset.as_u64().unwrap() as usize).collect());
        }
        Some(reply.then(match self.0["delivery"]["end"].as_str() {
            Some("truncate") => End::Truncate,
            Some("hang") => End::Hang,
            _ => End::Close,
        }))
    }

    /// The worker that the case's request asks for. `asked` says whether the host asks for the case's parameters.
    pub(crate) fn worker(&self, builder: WorkerBuilder, stream: bool, asked: bool) -> WorkerBuilder {
        let mut settings = WorkerSettings::default();
        settings.stream = stream;
        settings.tool_concurrency = 1;
        // a complete answer never waits as long
        settings.timeouts.idle = Duration::from_secs(30);
        if self.expect()["must_not_sleep"] != true {
            settings.retries.base = Duration::from_millis(1);
            settings.retries.obeyed = Duration::from_millis(50);
        }
        if asked {
            settings.parameters = self.parameters();
        }
        let items = self.0["request_hint"]["messages"].as_array().cloned().unwrap_or_default();
        let items = items.iter().map(|message| Item::from_json(&message.to_string()).unwrap());
        builder.http_client(self.1.clone()).settings(settings).tools(self.tools()).resume(items.collect(), 1)
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = self.0["request_hint"].as_object().cloned().unwrap_or_default();
        for own in ["messages", "tools", "stream"] {
            parameters.remove(own);
        }
        parameters
    }

    /// The case's tools, as far as this crate offers them, and the usual ones.
    fn tools(&self) -> ToolSet {
        let mut tools = ToolSet::new();
        let mut add = |definition| {
            let _ = tools.add_fn(definition, |_| async { Ok(ToolOutput::new("done")) });
        };
        for tool in self.0["request_hint"]["tools"].as_array().into_iter().flatten() {
            let function = &tool["function"];
            let name = function["name"].as_str().unwrap();
            let description = function["description"].as_str().unwrap_or("Does it.");
            match ToolDefinition::new(name, description, function["parameters"].clone()) {
                Ok(definition) => add(definition),
                // refused before a server can, with the tool's name
                Err(error @ (DefinitionError::Schema { .. } | DefinitionError::Description { .. })) => {
                    assert!(error.to_string().contains(name), "{}: {error}", self.id());
                }
                Err(error) => panic!("{}: {error}", self.id()),
            }
        }
        for name in TOOLS {
            add(ToolDefinition::new(name, "Does it.", as_schemars_writes_it()).unwrap());
        }
        tools
    }
}

/// Everything in a derived schema that some server refuses.
fn as_schemars_writes_it() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Arguments",
        "type": "object",
        "properties": {
            "id": {"type": ["integer", "null"], "format": "uint64", "minimum": 0},
            "inner": {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}]},
            "status": {"oneOf": [{"const": "open", "type": "string", "description": "To do."}, {"const": "done", "type": "string"}]},
            "any": true,
            "text": {"type": "string", "description": "x".repeat(2_000)},
        },
        "$defs": {"Inner": {"title": "Inner", "type": "object"}},
    })
}

fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for digit in text.bytes().filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte)) {
        bits = (bits << 6) | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

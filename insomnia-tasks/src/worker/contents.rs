//! Messages in the form that traces have them in, when they are asked for.

use serde_json::{Value, json};

use crate::wire::Answer;

/// Messages as they are sent.
pub(super) fn messages<'a>(sent: impl IntoIterator<Item = &'a str>) -> String {
    let messages =
        sent.into_iter().filter_map(|json| serde_json::from_str(json).ok()).map(|message| in_parts(&message));
    Value::Array(messages.collect()).to_string()
}

/// An answer of the model.
pub(super) fn answer(answer: &Answer) -> String {
    let mut parts = text_parts(answer.message.text());
    parts.extend(answer.calls.iter().map(|call| {
        let arguments = call.arguments.as_deref().ok().map(parsed);
        json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments})
    }));
    assistant(parts, answer.finish_reason.as_deref())
}

/// What a turn ended with.
pub(super) fn said(text: &str, finish_reason: Option<&str>) -> String {
    assistant(text_parts(Some(text.to_owned())), finish_reason)
}

fn assistant(parts: Vec<Value>, finish_reason: Option<&str>) -> String {
    json!([{"role": "assistant", "parts": parts, "finish_reason": finish_reason.unwrap_or("stop")}]).to_string()
}

fn in_parts(message: &Value) -> Value {
    let role = message["role"].as_str().unwrap_or("user");
    let content = match &message["content"] {
        Value::Null => Vec::new(),
        Value::Array(parts) => parts.iter().map(part).collect(),
        Value::String(text) => text_parts(Some(text.clone())),
        other => vec![other.clone()],
    };
    if role == "tool" {
        let response = &message["content"];
        let answered = json!({"type": "tool_call_response", "id": message["tool_call_id"], "response": response});
        return json!({"role": role, "parts": [answered]});
    }
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
        let arguments = call["function"]["arguments"].as_str().map(parsed);
        json!({"type": "tool_call", "id": call["id"], "name": call["function"]["name"], "arguments": arguments})
    });
    json!({"role": role, "parts": content.into_iter().chain(calls).collect::<Vec<_>>()})
}

/// A part of a message; of those without text, only the kind.
fn part(part: &Value) -> Value {
    match part["text"].as_str() {
        Some(text) => json!({"type": "text", "content": text}),
        None => json!({"type": part["type"]}),
    }
}

fn text_parts(text: Option<String>) -> Vec<Value> {
    let text = text.filter(|text| !text.is_empty());
    text.map(|text| json!({"type": "text", "content": text})).into_iter().collect()
}

/// Arguments as the object that they are, or the text that should have been one.
fn parsed(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into())
}

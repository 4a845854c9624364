//! Servers' refusals: what each of them demands of the messages holds after projection.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::*;
use crate::item::Item;

const CASES: &str = include_str!("../../../../tests/data/wire_cases.jsonl");

/// Cases whose rule is about messages, with the dialects of their servers. Not here: that a request ends with a user or tool
/// message is up to the loop.
const SERVERS: [(&str, &[&str]); 19] = [
    ("Q02", &["qwen", "portable"]),
    ("Q03", &["gpt-oss", "portable"]),
    ("Q06", &["mistral", "portable"]),
    ("Q07", &["gemma", "mistral", "portable"]),
    ("Q09", &["qwen", "groq", "cerebras", "mistral", "portable"]),
    ("Q12", &["openai", "portable"]),
    ("Q14", &["openai", "portable"]),
    ("Q15", &["gemini", "portable"]),
    ("Q16", &["mistral"]),
    ("Q18", &["kimi", "portable"]),
    ("Q20", &["gemini", "portable"]),
    ("Q21", &["portable"]),
    ("Q23", &["openai", "portable"]),
    ("Q40", &["deepseek", "portable"]),
    ("Q49", &["deepseek", "kimi", "portable"]),
    ("Q50", &["cerebras", "groq", "mistral"]),
    ("Q58", &["openai", "anthropic", "portable"]),
    ("Q164", &["mistral"]),
    ("Q167", &["gemini", "portable"]),
];

#[test]
fn projected_messages_keep_every_rule() {
    for (id, presets) in SERVERS {
        let case = case(id);
        let rule = &case["expect"]["must_send"];
        for preset in presets {
            let messages = projected(&case, preset);
            assert!(!messages.is_empty(), "{id}");
            assert!(keeps(rule, &messages), "{id} {preset}: {rule} {messages:#?}");
        }
    }
}

#[test]
fn the_refused_requests_break_their_rules() {
    for (id, _) in SERVERS.iter().filter(|(id, _)| !["Q18", "Q58"].contains(id)) {
        let case = case(id);
        if let Some(messages) = case["request_hint"]["messages"].as_array() {
            assert!(!keeps(&case["expect"]["must_send"], messages), "{id}");
        }
    }
}

fn case(id: &str) -> Value {
    let mut cases = CASES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    cases.find(|case| case["id"] == id).unwrap()
}

/// The case's messages, then the answer of its body if it is one, with results for its calls.
fn projected(case: &Value, preset: &str) -> Vec<Value> {
    let mut projection = Projection::new(Dialect::preset(preset).unwrap(), None);
    let hinted = case["request_hint"]["messages"].as_array().cloned();
    for message in hinted.unwrap_or_else(|| vec![json!({"role": "user", "content": "hi"})]) {
        projection.push(&Item::from_json(&message.to_string()).unwrap());
    }
    let body: Value = serde_json::from_str(case["body"].as_str().unwrap()).unwrap();
    if let Some(answer) = body.pointer("/choices/0/message") {
        projection.push(&Item::from_json(&answer.to_string()).unwrap());
        for call in projection.open_calls() {
            projection.push(&Item::tool_message(call.id, "[]"));
        }
    }
    projection.messages().iter().map(|message| serde_json::from_str(message.get()).unwrap()).collect()
}

fn keeps(rule: &Value, messages: &[Value]) -> bool {
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    let is_system = |role: &&str| ["system", "developer"].contains(role);
    let all_calls = || messages.iter().flat_map(calls_of);
    let ids: Vec<_> = all_calls().map(|call| call["id"].as_str().unwrap_or_default()).collect();
    let field = rule["field"].as_str().unwrap_or_default();
    let mut answers = messages.iter().filter(|message| message["role"] == "assistant");
    match rule["rule"].as_str().unwrap() {
        "no_system_after_first" | "single_leading_system" => !roles.iter().skip(1).any(is_system),
        "no_user_after_tool" => !roles.windows(2).any(|pair| pair == ["tool", "user"]),
        "roles_alternate" => {
            let speaks = |message: &&Value| message["role"] == "user" || is_final(message);
            let spoken: Vec<_> = messages.iter().filter(speaks).map(|message| &message["role"]).collect();
            spoken.iter().enumerate().all(|(k, role)| **role == ["user", "assistant"][k % 2])
        }
        "no_role" => !roles.contains(&rule["role"].as_str().unwrap()),
        "every_call_has_result" => messages.iter().enumerate().all(|(k, message)| {
            let results: Vec<_> = results_after(messages, k).collect();
            calls_of(message).all(|call| results.iter().filter(|result| **result == &call["id"]).count() == 1)
        }),
        "every_result_has_call" => {
            let called = (0..messages.len()).filter(|k| messages[*k]["role"] == "assistant");
            let paired =
                called.flat_map(|k| results_after(messages, k)).filter(|id| ids.contains(&id.as_str().unwrap()));
            paired.count() == roles.iter().filter(|role| **role == "tool").count()
        }
        "tool_call_id_regex" => {
            assert_eq!(rule["regex"], "^[a-zA-Z0-9]{9}$");
            ids.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        }
        "unique_tool_call_ids" => ids.iter().collect::<HashSet<_>>().len() == ids.len(),
        "tool_call_id_nonempty" => !ids.is_empty() && ids.iter().all(|id| !id.is_empty()),
        "arguments_json_object" => all_calls().all(|call| {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object())
        }),
        "no_empty_assistant" => {
            answers.all(|answer| answer["content"].is_string() || calls_of(answer).next().is_some())
        }
        "assistant_field_present" => answers.all(|answer| answer.get(field).is_some()),
        "assistant_field_absent" => answers.all(|answer| answer.get(field).is_none()),
        "assistant_content_key_present" => answers.all(|answer| answer.get("content").is_some()),
        "no_message_field" => messages.iter().all(|message| message.get(field).is_none()),
        other => panic!("no checker for {other}"),
    }
}

fn calls_of(message: &Value) -> impl Iterator<Item = &Value> {
    message["tool_calls"].as_array().into_iter().flatten()
}

fn is_final(message: &Value) -> bool {
    message["role"] == "assistant" && calls_of(message).next().is_none()
}

/// The ids of the tool messages right after a message.
fn results_after(messages: &[Value], place: usize) -> impl Iterator<Item = &Value> {
    messages[place + 1..].iter().take_while(|next| next["role"] == "tool").map(|next| &next["tool_call_id"])
}

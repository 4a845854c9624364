//! What servers demand of requests.

use std::collections::HashSet;

use serde_json::Value;

/// Whether a request keeps a rule.
pub(crate) fn keeps(rule: &Value, request: &Value) -> bool {
    let messages = list(&request["messages"]);
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    let is_system = |role: &&str| ["system", "developer"].contains(role);
    let calls = || messages.iter().flat_map(|message| list(&message["tool_calls"]));
    let ids: Vec<_> = calls().map(|call| call["id"].as_str().unwrap_or_default()).collect();
    let field = rule["field"].as_str().unwrap_or_default();
    let mut answers = messages.iter().filter(|message| message["role"] == "assistant");
    let tools: Vec<_> = list(&request["tools"]).iter().map(|tool| &tool["function"]).collect();
    let schemas = || tools.iter().flat_map(|tool| nodes(&tool["parameters"]));
    match rule["rule"].as_str().unwrap() {
        "no_system_after_first" | "single_leading_system" => !roles.iter().skip(1).any(is_system),
        "no_user_after_tool" => !roles.windows(2).any(|pair| pair == ["tool", "user"]),
        "roles_alternate" => {
            let speaks = |message: &&Value| {
                message["role"] == "user" || message["role"] == "assistant" && list(&message["tool_calls"]).is_empty()
            };
            let spoken: Vec<_> = messages.iter().filter(speaks).map(|message| &message["role"]).collect();
            spoken.iter().enumerate().all(|(k, role)| **role == ["user", "assistant"][k % 2])
        }
        "last_role_in" => list(&rule["roles"]).iter().any(|role| role == roles.last().unwrap()),
        "no_role" => !roles.contains(&rule["role"].as_str().unwrap()),
        "every_call_has_result" => messages.iter().enumerate().all(|(k, message)| {
            let results: Vec<_> = results_after(messages, k).collect();
            list(&message["tool_calls"])
                .iter()
                .all(|call| results.iter().filter(|result| **result == &call["id"]).count() == 1)
        }),
        "every_result_has_call" => {
            let called = (0..messages.len()).filter(|k| messages[*k]["role"] == "assistant");
            let paired =
                called.flat_map(|k| results_after(messages, k)).filter(|id| ids.contains(&id.as_str().unwrap()));
            paired.count() == roles.iter().filter(|role| **role == "tool").count()
        }
        "tool_call_id_regex" => {
            assert_eq!(rule["regex"], "^[a-zA-Z0-9]{9}$", "another form of ids needs another check");
            ids.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        }
        "unique_tool_call_ids" => ids.iter().collect::<HashSet<_>>().len() == ids.len(),
        "tool_call_id_nonempty" => ids.iter().all(|id| !id.is_empty()),
        "arguments_json_object" => calls().all(|call| {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object())
        }),
        "no_empty_assistant" => answers.all(|answer| {
            answer["content"].as_str().is_some_and(|text| !text.is_empty()) || !list(&answer["tool_calls"]).is_empty()
        }),
        "assistant_field_present" => answers.all(|answer| answer.get(field).is_some()),
        "assistant_field_absent" => answers.all(|answer| answer.get(field).is_none()),
        "assistant_content_key_present" => answers.all(|answer| answer.get("content").is_some()),
        "assistant_content_string" => answers.all(|answer| answer["content"].is_string()),
        "no_message_field" => messages.iter().all(|message| message.get(field).is_none()),
        "no_param" => request.get(rule["param"].as_str().unwrap()).is_none(),
        "no_tool_field" => tools.iter().all(|tool| tool.get(field).is_none()),
        "strict_schema_complete" => tools.iter().filter(|tool| tool["strict"] == true).all(|tool| {
            nodes(&tool["parameters"]).iter().filter(|node| node.get("properties").is_some()).all(|node| {
                node["additionalProperties"] == false
                    && list(&node["required"]).len() == node["properties"].as_object().unwrap().len()
            })
        }),
        "schema_no_keyword" => {
            schemas().all(|node| list(&rule["keywords"]).iter().all(|word| node.get(word.as_str().unwrap()).is_none()))
        }
        "schema_root_plain_object" => tools.iter().all(|tool| {
            let root = &tool["parameters"];
            root["type"] == "object" && ["oneOf", "anyOf", "allOf"].iter().all(|word| root.get(word).is_none())
        }),
        "schema_no_format" => {
            schemas().all(|node| node.get("format").is_none_or(|format| !list(&rule["formats"]).contains(format)))
        }
        "tool_description_max_len" => {
            let max = rule["max"].as_u64().unwrap() as usize;
            let described = tools.iter().copied().chain(schemas());
            described.into_iter().all(|node| node["description"].as_str().unwrap_or_default().chars().count() <= max)
        }
        other => panic!("no check for the rule {other}"),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The ids of the tool messages right after a message.
fn results_after(messages: &[Value], place: usize) -> impl Iterator<Item = &Value> {
    messages[place + 1..].iter().take_while(|next| next["role"] == "tool").map(|next| &next["tool_call_id"])
}

/// Every object in a schema, itself included.
fn nodes(schema: &Value) -> Vec<&Value> {
    let mut found = vec![schema];
    let inner: Box<dyn Iterator<Item = &Value>> = match schema {
        Value::Object(members) => Box::new(members.values()),
        Value::Array(entries) => Box::new(entries.iter()),
        _ => return Vec::new(),
    };
    found.extend(inner.flat_map(nodes));
    found
}

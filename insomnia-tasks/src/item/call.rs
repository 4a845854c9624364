use serde_json::{Value, value::RawValue};

/// One tool call of an assistant message, read leniently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The call's id as the server gave it; empty where it gave none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text, exactly as the model wrote them. An object sent in place of a string is rendered as text.
    pub arguments: String,
}

/// Reads a message's `tool_calls` (or its legacy `function_call`); entries without a function are passed over.
pub(super) fn read_calls(tool_calls: Option<&RawValue>, function_call: Option<&RawValue>) -> Vec<ToolCall> {
    let parse = |raw: &RawValue| serde_json::from_str::<Value>(raw.get()).ok();
    if let Some(Value::Array(entries)) = tool_calls.and_then(parse) {
        let calls: Vec<_> =
            entries.iter().filter_map(|entry| read_function(entry.get("id"), entry.get("function")?)).collect();
        if !calls.is_empty() {
            return calls;
        }
    }
    let legacy = function_call.and_then(parse);
    legacy.iter().filter_map(|function| read_function(None, function)).collect()
}

fn read_function(id: Option<&Value>, function: &Value) -> Option<ToolCall> {
    let name = function.get("name")?.as_str()?.to_owned();
    let id = match id {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    };
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    Some(ToolCall { id, name, arguments })
}

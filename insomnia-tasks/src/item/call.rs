use serde_json::{Value, value::RawValue};

use crate::json::repair_strings;

/// One tool call of an assistant message, read leniently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The call's id as the server gave it; empty where it gave none.
    pub id: String,
    /// The tool's name, without what some models leak into it (`TaskList<|channel|>commentary`, `functions.TaskList`).
    pub name: String,
    /// The arguments as JSON text, exactly as the model wrote them. An object sent in place of a string is rendered as text.
    pub arguments: String,
}

/// Reads a message's `tool_calls` (or its legacy `function_call`); entries that name no function are passed over.
pub(super) fn read_calls(tool_calls: Option<&RawValue>, function_call: Option<&RawValue>) -> Vec<ToolCall> {
    let parse = |raw: &RawValue| {
        let read = serde_json::from_str::<Value>(raw.get());
        read.or_else(|_| serde_json::from_str(&repair_strings(raw.get()))).ok()
    };
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
    let name = clean_name(function.get("name")?.as_str()?);
    if name.is_empty() {
        return None;
    }
    let name = name.to_owned();
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

/// A tool's name without the template tokens and prefixes that leak into it. None of them is possible in a real name.
pub(crate) fn clean_name(name: &str) -> &str {
    let name = name.trim();
    let cut = name.split_once("<|").map_or(name, |(before, _)| before.trim_end());
    cut.strip_prefix("functions.").unwrap_or(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleans_leaked_tokens_from_names() {
        for name in ["a", " a\n", "a<|channel|>commentary", "functions.a", "functions.a <|constrain|>json"] {
            assert_eq!(clean_name(name), "a", "{name}");
        }
        assert_eq!(clean_name("<|channel|>"), "");
    }
}

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{
    answer::AnsweredCall,
    assemble::{Added, CallAssembler, MAX_CALLS},
    error::ModelError,
    error_kind::ModelErrorKind,
};
use crate::item::Item;
use crate::json::{Object, elements, string, value};

/// A part of an answer, to show while the rest is on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// More of the answer's text.
    Text(String),
    /// More of the model's reasoning.
    Reasoning(String),
    /// The model has begun to write the arguments of a call of this tool.
    ToolCall(String),
}

/// Puts an assistant message together from the deltas of a stream. Fields that this crate does not know are kept.
#[derive(Debug)]
pub(super) struct MessageBuilder {
    text: String,
    /// The content as parts, once a part came that is no text.
    parts: Option<Vec<Value>>,
    others: Map<String, Value>,
    calls: CallAssembler,
    bytes: usize,
}

impl MessageBuilder {
    pub(super) fn new(tools: HashSet<String>) -> Self {
        let (text, parts, others) = (String::new(), None, Map::new());
        Self { text, parts, others, calls: CallAssembler::new(tools), bytes: 0 }
    }

    /// The text so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// How many bytes are kept, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.calls.bytes()
    }

    /// Takes one delta, and adds what can be shown of it.
    pub(super) fn take(&mut self, delta: &Object<'_>, shown: &mut Vec<Delta>) -> Result<(), ModelError> {
        let mut reasoning_shown = false;
        for (key, json) in delta.members().filter(|(_, json)| *json != "null") {
            match key {
                "role" => {}
                "content" => self.take_content(json, shown),
                "tool_calls" | "function_call" => {
                    let entries = if key == "tool_calls" { elements(json) } else { vec![json] };
                    for entry in entries {
                        match self.calls.add(entry) {
                            Added::Nothing => {}
                            Added::Begun(name) => shown.push(Delta::ToolCall(name)),
                            Added::TooMany => {
                                let message = format!("the answer has more than {MAX_CALLS} calls");
                                return Err(ModelError::new(ModelErrorKind::Malformed, message));
                            }
                        }
                    }
                }
                _ => {
                    let is_reasoning = ["reasoning_content", "reasoning", "thinking"].contains(&key);
                    // vLLM sends the same reasoning under two names
                    if let Some(text) = string(json).filter(|text| is_reasoning && !text.is_empty() && !reasoning_shown)
                    {
                        reasoning_shown = true;
                        shown.push(Delta::Reasoning(text));
                    }
                    self.bytes += json.len();
                    if let Some(new) = value(json) {
                        let slot = self.others.entry(key).or_insert(Value::Null);
                        merge(slot, new, ONCE.contains(&key));
                    }
                }
            }
        }
        Ok(())
    }

    fn take_content(&mut self, json: &str, shown: &mut Vec<Delta>) {
        self.bytes += json.len();
        if let Some(text) = string(json) {
            self.take_text(&text, shown);
            return;
        }
        for part in elements(json).into_iter().filter_map(value) {
            match part.get("text").and_then(Value::as_str) {
                Some(text) => self.take_text(text, shown),
                None => self.take_part(part, shown),
            }
        }
    }

    fn take_text(&mut self, text: &str, shown: &mut Vec<Delta>) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        shown.push(Delta::Text(text.to_owned()));
        if let Some(parts) = &mut self.parts {
            add_part(parts, json!({"type": "text", "text": text}));
        }
    }

    /// A part that is no text: the reasoning of Mistral's models, or something unknown.
    fn take_part(&mut self, part: Value, shown: &mut Vec<Delta>) {
        let thoughts = part.get("thinking").and_then(Value::as_array).into_iter().flatten();
        let reasoning: String = thoughts.filter_map(|thought| thought.get("text")?.as_str()).collect();
        if !reasoning.is_empty() {
            shown.push(Delta::Reasoning(reasoning));
        }
        let text = &self.text;
        let parts = self.parts.get_or_insert_with(|| match text.is_empty() {
            true => Vec::new(),
            false => vec![json!({"type": "text", "text": text})],
        });
        add_part(parts, part);
    }

    /// The message and its calls, entry for entry. `cut` says that a limit on the length ended the answer.
    pub(super) fn finish(self, cut: bool) -> Result<(Item, Vec<AnsweredCall>), ModelError> {
        let (calls, entries) = self.calls.finish(cut);
        let content = match self.parts {
            Some(parts) => Value::Array(parts),
            None if self.text.is_empty() && !entries.is_empty() => Value::Null,
            None => Value::String(self.text),
        };
        let mut message = Map::new();
        message.insert("role".to_owned(), "assistant".into());
        message.insert("content".to_owned(), content);
        message.extend(self.others);
        if !entries.is_empty() {
            message.insert("tool_calls".to_owned(), Value::Array(entries));
        }
        let item = Item::from_json(&Value::Object(message).to_string());
        let item = item.map_err(|error| ModelError::new(ModelErrorKind::Malformed, error.to_string()))?;
        Ok((item, calls))
    }
}

/// Fields that are not written in parts.
const ONCE: [&str; 9] =
    ["extra_content", "provider_specific_fields", "type", "id", "index", "format", "name", "role", "object"];

/// Adds what came later to what came before: strings and lists grow, objects grow member by member, the rest is replaced.
fn merge(slot: &mut Value, new: Value, once: bool) {
    match (slot, new) {
        (_, Value::Null) => {}
        (Value::String(old), Value::String(new)) if !once || old.is_empty() => old.push_str(&new),
        (Value::Object(old), Value::Object(new)) => {
            for (key, new) in new {
                let once = once || ONCE.contains(&key.as_str());
                merge(old.entry(key).or_insert(Value::Null), new, once);
            }
        }
        (Value::Array(old), Value::Array(new)) if !once => {
            for new in new {
                match same_index(old, &new) {
                    Some(old) => merge(old, new, false),
                    None => old.push(new),
                }
            }
        }
        (slot, new) if !once || slot.is_null() => *slot = new,
        _ => {}
    }
}

/// The entry that a list's new one continues, looked for among the newest only.
fn same_index<'a>(list: &'a mut [Value], new: &Value) -> Option<&'a mut Value> {
    const NEWEST: usize = 32;
    let index = new.get("index")?;
    list.iter_mut().rev().take(NEWEST).find(|entry| entry.get("index") == Some(index))
}

/// Adds a part, or continues the last one if it is of the same type.
fn add_part(parts: &mut Vec<Value>, new: Value) {
    match parts.last_mut() {
        Some(last) if last.get("type") == new.get("type") => merge(last, new, false),
        _ => parts.push(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(deltas: &[&str]) -> (Item, Vec<Delta>) {
        let (mut builder, mut shown) = (MessageBuilder::new(HashSet::new()), Vec::new());
        for delta in deltas {
            builder.take(&Object::parse(delta).unwrap(), &mut shown).unwrap();
        }
        (builder.finish(false).unwrap().0, shown)
    }

    #[test]
    fn keeps_unknown_fields() {
        let (item, shown) = build(&[
            r#"{"role":"assistant","reasoning":"a","reasoning_content":"a","extra_content":{"google":{"thought_signature":"s"}}}"#,
            r#"{"reasoning":"b","reasoning_content":"b","extra_content":{"google":{"thought_signature":"s"}},"n":1,"gone":null}"#,
            r#"{"content":"hi","n":2}"#,
        ]);
        let want = r#"{"role":"assistant","content":"hi","reasoning":"ab","reasoning_content":"ab","extra_content":{"google":{"thought_signature":"s"}},"n":2}"#;
        assert_eq!(item.json(), want);
        let want = [Delta::Reasoning("a".into()), Delta::Reasoning("b".into()), Delta::Text("hi".into())];
        assert_eq!(shown, want);
    }

    #[test]
    fn continues_list_entries_of_the_same_index() {
        let (item, _) = build(&[
            r#"{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]}"#,
            r#"{"reasoning_details":[{"type":"reasoning.text","text":"b","index":0},{"type":"x","index":1},{"type":"y"}]}"#,
        ]);
        let want = r#""reasoning_details":[{"type":"reasoning.text","text":"ab","index":0},{"type":"x","index":1},{"type":"y"}]"#;
        assert!(item.json().contains(want), "{}", item.json());
    }

    #[test]
    fn keeps_parts_that_are_no_text() {
        let (item, shown) = build(&[
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}"#,
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"b"}]},{"type":"text","text":"c"}]}"#,
            r#"{"content":"d"}"#,
        ]);
        let want = r#"[{"type":"thinking","thinking":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"type":"text","text":"cd"}]"#;
        assert!(item.json().contains(want), "{}", item.json());
        assert_eq!(item.text().as_deref(), Some("cd"));
        assert_eq!(shown.len(), 4);
        let (plain, _) = build(&[r#"{"content":[{"type":"text","text":"a"}]}"#, r#"{"content":"b"}"#]);
        assert_eq!(plain.json(), r#"{"role":"assistant","content":"ab"}"#);
    }

    #[test]
    fn has_null_content_beside_calls_only() {
        let (item, shown) = build(&[r#"{"content":"","tool_calls":[{"function":{"name":"x","arguments":"{}"}}]}"#]);
        let call = r#"{"id":"","type":"function","function":{"name":"x","arguments":"{}"}}"#;
        assert_eq!(item.json(), format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#));
        assert_eq!(shown, [Delta::ToolCall("x".into())]);
        assert_eq!(build(&[]).0.json(), r#"{"role":"assistant","content":""}"#);
    }
}

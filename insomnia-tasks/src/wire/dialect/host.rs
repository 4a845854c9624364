use serde_json::{Value, json};

use super::{content::SEPARATOR, settings::LateSystem};
use crate::item::Item;

/// A message type of a host that keeps its own list.
///
/// Implemented for [`serde_json::Value`] and, with the feature `client`, for async-openai's
/// `ChatCompletionRequestMessage`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not known as a chat message",
    note = "use `serde_json::Value` or async-openai's `ChatCompletionRequestMessage`, or implement `HostMessage`"
)]
pub trait HostMessage: Sized {
    /// The item's own message; `None` where the type cannot hold it.
    fn from_item(item: &Item) -> Option<Self>;
    /// The item as a `system` message.
    fn system(item: &Item) -> Self;
    /// The item as a `developer` message.
    fn developer(item: &Item) -> Self;
    /// The item as a `user` message.
    fn user(item: &Item) -> Self;
    /// Appends the text to the content of this message, after a blank line; `false`, and nothing done, where this is
    /// neither a tool nor a user message.
    fn merge(&mut self, text: &str) -> bool;
}

/// Puts a late item at the end of a host's list, the way [`Projection`](super::Projection) does in a request.
///
/// With [`LateSystem::Merge`] the last message grows if it is a tool or user message; so call this before that message is
/// first sent. Otherwise one message is added, a `user` message where merging is not possible.
///
/// ```
/// use insomnia_tasks::{Item, wire::{LateSystem, append_late}};
/// use serde_json::json;
///
/// let mut messages = vec![json!({"role": "tool", "tool_call_id": "a", "content": "[]"})];
/// append_late(&mut messages, &Item::task_reminder("1 task is open"), LateSystem::Merge);
/// assert_eq!(messages, [json!({"role": "tool", "tool_call_id": "a", "content": "[]\n\n1 task is open"})]);
/// ```
pub fn append_late<M: HostMessage>(messages: &mut Vec<M>, item: &Item, placement: LateSystem) {
    let message = match placement {
        LateSystem::System => M::system(item),
        LateSystem::Developer => M::developer(item),
        LateSystem::User => M::user(item),
        LateSystem::Merge => {
            let text = item.text().unwrap_or_default();
            if text.is_empty() || messages.last_mut().is_some_and(|last| last.merge(&text)) {
                return;
            }
            M::user(item)
        }
    };
    messages.push(message);
}

impl HostMessage for Value {
    fn from_item(item: &Item) -> Option<Self> {
        serde_json::from_str(item.json()).ok()
    }

    fn system(item: &Item) -> Self {
        with_role(item, "system")
    }

    fn developer(item: &Item) -> Self {
        with_role(item, "developer")
    }

    fn user(item: &Item) -> Self {
        with_role(item, "user")
    }

    fn merge(&mut self, text: &str) -> bool {
        let Some(message) = self.as_object_mut() else { return false };
        if !matches!(message.get("role").and_then(Value::as_str), Some("tool" | "user")) {
            return false;
        }
        match message.entry("content").or_insert(Value::Null) {
            Value::String(content) => append_text(content, text),
            Value::Array(parts) => parts.push(json!({"type": "text", "text": text})),
            other => *other = text.into(),
        }
        true
    }
}

/// Appends after a blank line; text after nothing stands alone.
pub(super) fn append_text(content: &mut String, text: &str) {
    if !content.is_empty() {
        content.push_str(SEPARATOR);
    }
    content.push_str(text);
}

fn with_role(item: &Item, role: &str) -> Value {
    let mut message = serde_json::from_str(item.json()).unwrap_or_else(|_| json!({"content": item.text()}));
    if let Value::Object(fields) = &mut message {
        fields.insert("role".to_owned(), role.into());
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(last: Value, placement: LateSystem) -> Vec<Value> {
        let mut messages = vec![last];
        append_late(&mut messages, &Item::task_reminder("note"), placement);
        messages
    }

    #[test]
    fn adds_a_message_of_the_role() {
        for role in ["system", "developer", "user"] {
            let messages = placed(json!({"role": "user", "content": "hi"}), role.parse().unwrap());
            assert_eq!(messages[1..], [json!({"role": role, "content": "note"})]);
        }
    }

    #[test]
    fn merges_into_every_shape_of_content() {
        for (content, expected) in [
            (json!("hi"), json!("hi\n\nnote")),
            (json!(""), json!("note")),
            (json!(null), json!("note")),
            (
                json!([{"type": "text", "text": "hi"}]),
                json!([{"type": "text", "text": "hi"}, {"type": "text", "text": "note"}]),
            ),
        ] {
            let messages = placed(json!({"role": "user", "content": content, "name": "x"}), LateSystem::Merge);
            assert_eq!(messages, [json!({"role": "user", "content": expected, "name": "x"})]);
        }
    }

    #[test]
    fn never_merges_into_an_answer() {
        let messages = placed(json!({"role": "assistant", "content": "hi"}), LateSystem::Merge);
        assert_eq!(messages[1], json!({"role": "user", "content": "note"}));
        let mut none: Vec<Value> = Vec::new();
        append_late(&mut none, &Item::task_reminder("note"), LateSystem::Merge);
        assert_eq!(none, [json!({"role": "user", "content": "note"})]);
    }
}

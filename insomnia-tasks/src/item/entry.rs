use std::{borrow::Cow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};

use super::call::{ToolCall, read_calls};
use crate::json::repair_strings;

/// What an [`Item`] is. The wire role alone does not tell: reminders and notifications are system messages too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemKind {
    /// A prompt of the user.
    User,
    /// An answer of the model.
    Assistant,
    /// The result of one tool call.
    Tool,
    /// A system message of the host.
    System,
    /// A reminder of this crate that lists the open tasks.
    TaskReminder,
    /// A message of the host that entered through the reminder's lane.
    Notification,
}

/// One entry of the history: an exact wire message and what it is. Cheap to clone.
///
/// ```
/// use insomnia_tasks::Item;
///
/// let item = Item::from_json(r#"{ "role": "user", "content": "hi", "x": 1.0 }"#)?;
/// assert_eq!(item.json(), r#"{"role":"user","content":"hi","x":1.0}"#);
/// assert_eq!(item.text().as_deref(), Some("hi"));
/// # Ok::<(), insomnia_tasks::ItemError>(())
/// ```
#[derive(Clone)]
pub struct Item {
    kind: ItemKind,
    message: Arc<RawValue>,
}

impl Item {
    /// A `user` message.
    pub fn user_message(text: impl Into<String>) -> Self {
        Self::plain(ItemKind::User, "user", text.into())
    }

    /// A `system` message.
    pub fn system_message(text: impl Into<String>) -> Self {
        Self::plain(ItemKind::System, "system", text.into())
    }

    /// An `assistant` message without tool calls.
    pub fn assistant_message(text: impl Into<String>) -> Self {
        Self::plain(ItemKind::Assistant, "assistant", text.into())
    }

    /// The result of the tool call with this id.
    pub fn tool_message(call_id: impl Into<String>, result: impl Into<String>) -> Self {
        let (call_id, result) = (call_id.into(), result.into());
        let message = json!({"role": "tool", "tool_call_id": call_id, "content": result});
        Self { kind: ItemKind::Tool, message: raw(&message) }
    }

    /// A reminder that lists the open tasks. It is stored as a `system` message; what a server gets is up to its dialect.
    pub fn task_reminder(text: impl Into<String>) -> Self {
        Self::plain(ItemKind::TaskReminder, "system", text.into())
    }

    /// A message of the host that is placed like a reminder.
    pub fn notification(text: impl Into<String>) -> Self {
        Self::plain(ItemKind::Notification, "system", text.into())
    }

    /// An item from a message's JSON text. The kind follows from the role (`developer` counts as system, `function` as
    /// tool); use [`Item::with_kind`] where a system message is a reminder or a notification.
    ///
    /// # Errors
    /// If the text is no JSON object, or has no known `role`.
    pub fn from_json(json: &str) -> Result<Self, ItemError> {
        let head: Head<'_> = serde_json::from_str(json).map_err(ItemError::Json)?;
        let kind = match head.role.as_ref() {
            "user" => ItemKind::User,
            "assistant" => ItemKind::Assistant,
            "tool" | "function" => ItemKind::Tool,
            "system" | "developer" => ItemKind::System,
            other => return Err(ItemError::Role(other.chars().take(40).collect())),
        };
        let message = RawValue::from_string(without_whitespace(json)).map_err(ItemError::Json)?;
        Ok(Self { kind, message: message.into() })
    }

    /// An item from a message that was compacted and checked when it was first made, as a stored one was.
    #[cfg(feature = "client")]
    pub(crate) fn from_stored(kind: ItemKind, message: Arc<RawValue>) -> Self {
        Self { kind, message }
    }

    /// An item from a message of any type that serialises to a chat message, such as async-openai's or a JSON value.
    ///
    /// # Errors
    /// As for [`Item::from_json`].
    pub fn from_message(message: &impl Serialize) -> Result<Self, ItemError> {
        Self::from_json(&serde_json::to_string(message).map_err(ItemError::Json)?)
    }

    /// The same message as another kind.
    #[must_use]
    pub fn with_kind(mut self, kind: ItemKind) -> Self {
        self.kind = kind;
        self
    }

    /// What this item is.
    pub fn kind(&self) -> ItemKind {
        self.kind
    }

    /// The message's JSON text, on one line.
    pub fn json(&self) -> &str {
        self.message.get()
    }

    /// The message's JSON text, shared.
    pub fn raw(&self) -> &Arc<RawValue> {
        &self.message
    }

    /// Whether this is a reminder of this crate.
    pub fn is_task_reminder(&self) -> bool {
        self.kind == ItemKind::TaskReminder
    }

    /// The message's text: `content` where it is a string, else its text parts joined. None where there is no text. A
    /// surrogate without its other half, which no text can hold, is read as U+FFFD.
    pub fn text(&self) -> Option<String> {
        let content = self.fields()?.content?.get();
        let read = serde_json::from_str(content).or_else(|_| serde_json::from_str(&repair_strings(content)));
        match read.ok()? {
            Content::Text(text) => Some(text),
            Content::Parts(parts) => {
                let texts: Vec<_> = parts.into_iter().filter_map(|part| part.text).collect();
                (!texts.is_empty()).then(|| texts.concat())
            }
            Content::Other(_) => None,
        }
    }

    /// The tool calls of an assistant message, in order; empty for every other message.
    pub fn tool_calls(&self) -> Vec<ToolCall> {
        if self.kind != ItemKind::Assistant {
            return Vec::new();
        }
        match self.fields() {
            Some(fields) => read_calls(fields.tool_calls, fields.function_call),
            None => Vec::new(),
        }
    }

    /// The id of the call that a tool message answers.
    pub fn tool_call_id(&self) -> Option<String> {
        self.fields()?.tool_call_id.map(Cow::into_owned)
    }

    fn fields(&self) -> Option<Fields<'_>> {
        serde_json::from_str(self.message.get()).ok()
    }

    fn plain(kind: ItemKind, role: &str, text: String) -> Self {
        Self { kind, message: raw(&Plain { role, content: &text }) }
    }
}

/// A user message.
impl From<&str> for Item {
    fn from(prompt: &str) -> Self {
        Self::user_message(prompt)
    }
}

/// A user message.
impl From<String> for Item {
    fn from(prompt: String) -> Self {
        Self::user_message(prompt)
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Item").field("kind", &self.kind).field("message", &self.json()).finish()
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.json() == other.json()
    }
}

impl Eq for Item {}

/// Why a text is no [`Item`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ItemError {
    /// The text is no JSON object with a `role`.
    #[error("a message must be a JSON object with a `role`: {0}")]
    Json(#[source] serde_json::Error),
    /// The role is not one of chat completions.
    #[error("unknown role `{0}`: use `system`, `developer`, `user`, `assistant` or `tool`")]
    Role(String),
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow, default)]
    function_call: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Serialize)]
struct Plain<'a> {
    role: &'a str,
    content: &'a str,
}

fn raw(message: &impl Serialize) -> Arc<RawValue> {
    to_raw_value(message).map_or_else(|_| RawValue::NULL.to_owned().into(), Arc::from)
}

/// Drops the whitespace between tokens, which is the whitespace outside strings.
fn without_whitespace(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in json.chars() {
        if in_string {
            (in_string, escaped) = match c {
                _ if escaped => (true, false),
                '\\' => (true, true),
                '"' => (false, false),
                _ => (true, false),
            };
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            in_string = c == '"';
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_every_byte_but_whitespace_between_tokens() {
        let json = "{ \"role\" :\t\"assistant\",\n \"content\": \"a \\\" b\\\\\", \"n\": 1.50e1, \"s\": \"\\ud800\" }";
        let item = Item::from_json(json).unwrap();
        assert_eq!(item.json(), r#"{"role":"assistant","content":"a \" b\\","n":1.50e1,"s":"\ud800"}"#);
    }

    #[test]
    fn reads_text_from_string_and_parts() {
        let parts = r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{}},{"type":"text","text":"b"}]}"#;
        assert_eq!(Item::from_json(parts).unwrap().text().as_deref(), Some("ab"));
        assert_eq!(Item::from_json(r#"{"role":"assistant","content":null}"#).unwrap().text(), None);
        assert_eq!(Item::from_json(r#"{"role":"assistant","content":7}"#).unwrap().text(), None);
    }

    #[test]
    fn half_a_surrogate_costs_no_more_than_itself() {
        let json = r#"{"role":"assistant","content":"a\ud83db","tool_calls":[{"id":"i","function":{"name":"T","arguments":"{\"x\":\"\udc00\"}"}}]}"#;
        let item = Item::from_json(json).unwrap();
        assert_eq!(item.text().as_deref(), Some("a\u{fffd}b"));
        assert_eq!(item.tool_calls()[0].arguments, "{\"x\":\"\u{fffd}\"}");
        assert_eq!(item.json(), json);
        let parts = r#"{"role":"user","content":[{"type":"text","text":"a\ud83d"}]}"#;
        assert_eq!(Item::from_json(parts).unwrap().text().as_deref(), Some("a\u{fffd}"));
    }

    #[test]
    fn reads_calls_leniently() {
        let json = r#"{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":{"x":1}}},{"id":7,"function":{"name":"b"}},{"id":"i"},3]}"#;
        let calls = Item::from_json(json).unwrap().tool_calls();
        assert_eq!(calls.len(), 2);
        assert_eq!((calls[0].id.as_str(), calls[0].arguments.as_str()), ("", r#"{"x":1}"#));
        assert_eq!((calls[1].id.as_str(), calls[1].arguments.as_str()), ("7", ""));
        let legacy = r#"{"role":"assistant","function_call":{"name":"a","arguments":"{}"}}"#;
        assert_eq!(Item::from_json(legacy).unwrap().tool_calls()[0].name, "a");
    }

    #[test]
    fn refuses_what_is_no_message() {
        assert!(Item::from_json("[]").is_err());
        assert!(Item::from_json(r#"{"content":"x"}"#).is_err());
        let error = Item::from_json(r#"{"role":"robot"}"#).unwrap_err();
        assert!(error.to_string().contains("`robot`"), "{error}");
    }
}

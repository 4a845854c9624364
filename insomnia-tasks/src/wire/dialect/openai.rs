//! async-openai's typed messages as a host's list.

use async_openai::types::chat::{
    ChatCompletionRequestDeveloperMessage, ChatCompletionRequestMessage as Message,
    ChatCompletionRequestMessageContentPartText, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestToolMessageContent as ToolContent, ChatCompletionRequestToolMessageContentPart as ToolPart,
    ChatCompletionRequestUserMessage, ChatCompletionRequestUserMessageContent as UserContent,
    ChatCompletionRequestUserMessageContentPart as UserPart,
};

use super::host::{HostMessage, append_text};
use crate::item::Item;

/// A new message carries the item's text; fields that async-openai does not know are lost.
impl HostMessage for Message {
    fn from_item(item: &Item) -> Option<Self> {
        Message::try_from(item).ok()
    }

    fn system(item: &Item) -> Self {
        ChatCompletionRequestSystemMessage::from(item.text().unwrap_or_default()).into()
    }

    fn developer(item: &Item) -> Self {
        ChatCompletionRequestDeveloperMessage::from(item.text().unwrap_or_default()).into()
    }

    fn user(item: &Item) -> Self {
        ChatCompletionRequestUserMessage::from(item.text().unwrap_or_default()).into()
    }

    fn merge(&mut self, text: &str) -> bool {
        match self {
            Message::User(message) => match &mut message.content {
                UserContent::Text(content) => append_text(content, text),
                UserContent::Array(parts) => parts.push(UserPart::Text(part(text))),
            },
            Message::Tool(message) => match &mut message.content {
                ToolContent::Text(content) => append_text(content, text),
                ToolContent::Array(parts) => parts.push(ToolPart::Text(part(text))),
            },
            _ => return false,
        }
        true
    }
}

fn part(text: &str) -> ChatCompletionRequestMessageContentPartText {
    text.into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::{LateSystem, append_late};

    #[test]
    fn typed_messages_become_what_untyped_ones_become() {
        let part = json!([{"type": "text", "text": "a"}]);
        for last in [
            json!({"role": "user", "content": "a"}),
            json!({"role": "user", "content": part}),
            json!({"role": "tool", "content": "a", "tool_call_id": "i"}),
            json!({"role": "tool", "content": part, "tool_call_id": "i"}),
            json!({"role": "assistant", "content": "a"}),
            json!({"role": "system", "content": "a"}),
        ] {
            for placement in [LateSystem::System, LateSystem::Developer, LateSystem::User, LateSystem::Merge] {
                let mut typed: Vec<Message> = vec![serde_json::from_value(last.clone()).unwrap()];
                let mut untyped: Vec<Value> = vec![last.clone()];
                append_late(&mut typed, &Item::task_reminder("note"), placement);
                append_late(&mut untyped, &Item::task_reminder("note"), placement);
                assert_eq!(serde_json::to_value(&typed).unwrap(), Value::Array(untyped), "{placement} after {last}");
            }
        }
    }
}

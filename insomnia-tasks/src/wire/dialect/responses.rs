//! The Responses API's input items as a host's list.

use async_openai::types::responses::{
    EasyInputContent, EasyInputMessage, FunctionCallOutput, FunctionCallOutputItemParam, InputContent, InputItem,
    InputRole, Item as ApiItem, MessageItem, MessageType, Role,
};
use serde::Deserialize;

use super::host::{HostMessage, append_text};
use crate::item::{Item, ItemKind};

/// Messages and results of calls; an answer of the model is more than one item.
impl HostMessage for InputItem {
    fn from_item(item: &Item) -> Option<Self> {
        let text = item.text().unwrap_or_default();
        match item.kind() {
            ItemKind::Assistant => None,
            ItemKind::Tool => Some(Self::Item(ApiItem::FunctionCallOutput(FunctionCallOutputItemParam {
                call_id: Some(item.tool_call_id()?),
                output: FunctionCallOutput::Text(text),
                id: None,
                status: None,
                name: None,
                namespace: None,
                caller: None,
            }))),
            _ => Some(message(serde_json::from_str::<Head>(item.json()).ok()?.role, text)),
        }
    }

    fn system(item: &Item) -> Self {
        message(Role::System, item.text().unwrap_or_default())
    }

    fn developer(item: &Item) -> Self {
        message(Role::Developer, item.text().unwrap_or_default())
    }

    fn user(item: &Item) -> Self {
        message(Role::User, item.text().unwrap_or_default())
    }

    fn merge(&mut self, text: &str) -> bool {
        match self {
            Self::Item(ApiItem::FunctionCallOutput(result)) => match &mut result.output {
                FunctionCallOutput::Text(own) => append_text(own, text),
                FunctionCallOutput::Content(parts) => parts.push(InputContent::from(text)),
            },
            Self::EasyMessage(prompt) if prompt.role == Role::User => match &mut prompt.content {
                EasyInputContent::Text(own) => append_text(own, text),
                EasyInputContent::ContentList(parts) => parts.push(InputContent::from(text)),
            },
            Self::Item(ApiItem::Message(MessageItem::Input(prompt))) if prompt.role == InputRole::User => {
                prompt.content.push(InputContent::from(text));
            }
            _ => return false,
        }
        true
    }
}

#[derive(Deserialize)]
struct Head {
    role: Role,
}

fn message(role: Role, text: String) -> InputItem {
    let content = EasyInputContent::Text(text);
    InputItem::EasyMessage(EasyInputMessage { r#type: MessageType::Message, role, content, phase: None })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::{LateSystem, append_late};

    fn placed(last: &Value, placement: LateSystem) -> Value {
        let mut input: Vec<InputItem> = vec![serde_json::from_value(last.clone()).unwrap()];
        append_late(&mut input, &Item::task_reminder("note"), placement);
        serde_json::to_value(&input).unwrap()
    }

    #[test]
    fn merges_into_prompts_and_results_alone() {
        let text = |text: &str| json!({"type": "input_text", "text": text});
        let result = |output: Value| json!({"type": "function_call_output", "call_id": "a", "output": output});
        let prompt = |content: Value| json!({"type": "message", "role": "user", "content": content});
        for form in [result, prompt] {
            assert_eq!(placed(&form(json!("hi")), LateSystem::Merge), json!([form(json!("hi\n\nnote"))]));
            let parts = form(json!([text("hi")]));
            assert_eq!(placed(&parts, LateSystem::Merge), json!([form(json!([text("hi"), text("note")]))]));
        }
        let call = json!({"type": "function_call", "call_id": "a", "name": "Look", "arguments": "{}"});
        assert_eq!(placed(&call, LateSystem::Merge), json!([call, prompt(json!("note"))]));
    }

    #[test]
    fn adds_a_message_of_the_role() {
        let last = json!({"type": "function_call_output", "call_id": "a", "output": "hi"});
        for role in ["system", "developer", "user"] {
            let note = json!({"type": "message", "role": role, "content": "note"});
            assert_eq!(placed(&last, role.parse().unwrap()), json!([last, note]));
        }
    }

    #[test]
    fn an_item_becomes_what_the_input_has_for_it() {
        let form = |json: Value| InputItem::from_item(&Item::from_json(&json.to_string()).unwrap());
        let json = |item: Option<InputItem>| serde_json::to_value(item).unwrap();
        let message = json!({"role": "developer", "content": "hi"});
        assert_eq!(json(form(message)), json!({"type": "message", "role": "developer", "content": "hi"}));
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "hi"});
        assert_eq!(json(form(result)), json!({"type": "function_call_output", "call_id": "a", "output": "hi"}));
        assert_eq!(form(json!({"role": "assistant", "content": "hi"})), None);
    }
}

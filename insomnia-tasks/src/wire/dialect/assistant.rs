use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::{Value, value::RawValue};

use super::{
    content,
    edit::{Object, quote},
    settings::{CallIds, Dialect, ToolOnlyContent},
};
use crate::{
    item::{Ids, Slot, ToolCall, clean_name},
    tool::arguments::echo_arguments,
};

/// An assistant message as it is sent back.
pub(super) struct Echo {
    /// `None` where it has nothing to say: servers refuse an empty answer.
    pub(super) message: Option<Arc<RawValue>>,
    /// Its calls, all open.
    pub(super) slots: Vec<Slot>,
}

/// Makes an assistant message acceptable: calls with ids, a type and arguments that are an object, `content` as the
/// dialect wants it, without the fields that the server refuses.
pub(super) fn echo(original: &Arc<RawValue>, dialect: &Dialect, ids: &mut Ids) -> Echo {
    let Some(mut message) = Object::parse(original.get()) else {
        return Echo { message: Some(original.clone()), slots: Vec::new() };
    };
    drop_fields(&mut message, dialect);
    let slots = echo_calls(&mut message, dialect, ids);
    if slots.is_empty() && is_empty(&message) {
        return Echo { message: None, slots };
    }
    if !slots.is_empty() && content::is_blank(message.get("content")) {
        set_blank_content(&mut message, dialect.tool_only_content);
    }
    Echo { message: Some(message.share(original)), slots }
}

/// Leaves out the fields that the dialect's server refuses.
pub(super) fn drop_fields(object: &mut Object<'_>, dialect: &Dialect) {
    const ESSENTIAL: [&str; 7] = ["role", "content", "tool_calls", "tool_call_id", "id", "type", "function"];
    for field in dialect.dropped_fields.iter().filter(|field| !ESSENTIAL.contains(&field.as_str())) {
        object.remove(field);
    }
}

fn echo_calls(message: &mut Object<'_>, dialect: &Dialect, ids: &mut Ids) -> Vec<Slot> {
    let listed = message.get("tool_calls").unwrap_or_default().to_owned();
    let listed: Vec<&RawValue> = serde_json::from_str(&listed).unwrap_or_default();
    let mut calls: Vec<_> = listed.iter().filter_map(|entry| echo_call(entry.get(), dialect, ids)).collect();
    if calls.is_empty() {
        let legacy = message.get("function_call").map(|function| format!(r#"{{"function":{function}}}"#));
        calls.extend(legacy.and_then(|entry| echo_call(&entry, dialect, ids)));
    }
    message.remove("function_call");
    let (entries, slots): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
    if entries.is_empty() {
        message.remove("tool_calls");
    } else if entries.len() != listed.len() || entries.iter().zip(&listed).any(|(new, old)| new != old.get()) {
        message.set("tool_calls", format!("[{}]", entries.join(",")));
    }
    slots
}

/// One entry of `tool_calls`; `None` where it names no function.
fn echo_call(entry: &str, dialect: &Dialect, ids: &mut Ids) -> Option<(String, Slot)> {
    let mut call = Object::parse(entry)?;
    let function = call.get("function")?.to_owned();
    let mut function = Object::parse(&function)?;
    let given_name = function.get_string("name")?;
    let name = clean_name(&given_name).to_owned();
    if name.is_empty() {
        return None;
    }
    if name != given_name {
        function.set("name", quote(&name));
    }
    let raw_arguments = function.get("arguments");
    let arguments = match raw_arguments {
        Some(raw) if raw.starts_with('"') => serde_json::from_str(raw).unwrap_or_default(),
        Some("null") | None => String::new(),
        Some(raw) => raw.to_owned(),
    };
    if let Some(fixed) = fix_arguments(raw_arguments, &arguments) {
        function.set("arguments", quote(&fixed));
    }
    let id = ids.assign(given_id(&call));
    let sent = match dialect.call_ids {
        CallIds::AsGiven => id.canonical.clone(),
        CallIds::NineAlphanumeric => id.mapped.clone(),
    };
    drop_fields(&mut call, dialect);
    if call.get_string("id").as_ref() != Some(&sent) {
        call.set("id", quote(&sent));
    }
    call.set("type", r#""function""#);
    if function.changed() {
        call.set("function", function.text());
    }
    let text = if call.changed() { call.text() } else { entry.to_owned() };
    Some((text, Slot { call: ToolCall { id: sent, name, arguments }, id, answered: false }))
}

fn given_id(call: &Object<'_>) -> String {
    match call.get("id").map(serde_json::from_str) {
        Some(Ok(Value::String(id))) => id,
        Some(Ok(Value::Number(id))) => id.to_string(),
        _ => String::new(),
    }
}

/// The arguments to send in place of these; `None` where they are a string with an object in it already.
fn fix_arguments(raw: Option<&str>, arguments: &str) -> Option<String> {
    if is_object(arguments) {
        return (!raw.is_some_and(|raw| raw.starts_with('"'))).then(|| arguments.to_owned());
    }
    Some(echo_arguments(arguments).into_owned())
}

fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(json).is_ok()
}

fn is_empty(message: &Object<'_>) -> bool {
    let says = |field, open| message.get(field).is_some_and(|value| value.starts_with(open) && value.len() > 2);
    content::is_blank(message.get("content")) && !says("refusal", '"') && !says("audio", '{')
}

fn set_blank_content(message: &mut Object<'_>, setting: ToolOnlyContent) {
    match setting {
        ToolOnlyContent::AsReceived if message.get("content").is_some_and(|content| content.starts_with('"')) => {}
        ToolOnlyContent::AsReceived | ToolOnlyContent::Null => message.set("content", "null"),
        ToolOnlyContent::Empty => message.set("content", r#""""#),
        ToolOnlyContent::Absent => message.remove("content"),
    }
}

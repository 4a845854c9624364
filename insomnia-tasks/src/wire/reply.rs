use std::collections::HashSet;

use super::{
    answer::Answer, classify::classify, error::ModelError, error_kind::ModelErrorKind, head::ReplyHead,
    stream::StreamReader, usage::Usage,
};
use crate::item::Item;
use crate::json::{Object, documents, elements, number, readable};

/// Reads the whole reply to a request without `stream`. `tools` are the names that the request offered.
///
/// An event stream is read too, since some servers always stream.
///
/// ```
/// use insomnia_tasks::wire::{ModelErrorKind, ReplyHead, read_reply};
///
/// let body = br#"{"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#;
/// let answer = read_reply(&ReplyHead::new(200), body, &["TaskList"])?;
/// assert_eq!(answer.message.text().as_deref(), Some("Hi"));
///
/// // gateways report errors with a status of success
/// let error = read_reply(&ReplyHead::new(200), br#"{"error":{"code":429,"message":"slow down"}}"#, &[]).unwrap_err();
/// assert_eq!(error.kind(), ModelErrorKind::RateLimited { retry_after: None });
/// # Ok::<(), insomnia_tasks::wire::ModelError>(())
/// ```
///
/// # Errors
/// What [`classify`] says about an error reply, also one of status 200; [`ModelErrorKind::Malformed`] if the reply has
/// no message or the message is empty.
pub fn read_reply(head: &ReplyHead<'_>, body: &[u8], tools: &[&str]) -> Result<Answer, ModelError> {
    if !head.is_success() {
        return Err(classify(head, body));
    }
    let text = readable(body);
    let text = text.trim_start();
    if is_event_stream(text) {
        let mut reader = StreamReader::new(tools);
        reader.push(body);
        return reader.finish();
    }
    let (found, rest) = documents(text);
    match found.first() {
        Some(document) => read_completion(head, document),
        None if rest.trim().is_empty() => Err(malformed("the body is empty")),
        None => Err(malformed("the body is no JSON")),
    }
    .map_err(|error| error.with_headers(head.headers()).with_body(body))
}

/// Reads a completion, or the error that stands in its place.
pub(super) fn read_completion(head: &ReplyHead<'_>, document: &str) -> Result<Answer, ModelError> {
    let document = elements(document).first().copied().unwrap_or(document);
    let Some(reply) = Object::parse(document) else { return Err(malformed("the body is no JSON object")) };
    if states_error(&reply) {
        return Err(classify(head, document.as_bytes()));
    }
    let choices = reply.get("choices").map(elements).unwrap_or_default();
    let Some(choice) = choices.iter().find_map(|choice| Object::parse(choice)) else {
        return Err(malformed("the reply has no choices"));
    };
    if let Some(error) = choice.get("error").filter(|error| is_filled(error)) {
        return Err(classify(head, error.as_bytes()));
    }
    let message = choice.get("message").or_else(|| choice.get("delta")).and_then(assistant_item);
    let Some(message) = message else { return Err(malformed("the reply's choice has no message")) };
    let answer = Answer::of_message(message, choice.filled("finish_reason"), Usage::find(&reply, Some(&choice)))?;
    Ok(Answer { id: reply.filled("id"), model: reply.filled("model"), ..answer })
}

/// Whether a reply or an event is an error, whatever its status.
pub(super) fn states_error(reply: &Object<'_>) -> bool {
    if reply.get("error").is_some_and(is_filled) {
        return true;
    }
    if reply.get("choices").is_some() {
        return false;
    }
    let named = ["object", "type"].iter().any(|key| reply.string(key).as_deref() == Some("error"));
    let refused =
        reply.object("base_resp").and_then(|base| number(base.get("status_code")?)).is_some_and(|code| code != 0);
    named || refused || ["message", "msg", "detail", "errors"].iter().any(|key| reply.get(key).is_some_and(is_filled))
}

/// Whether an `error` member says anything; some servers always send one.
pub(super) fn is_filled(error: &str) -> bool {
    !matches!(error, "\"\"" | "{}" | "[]" | "false" | "0")
}

/// The message as it was received; only where its role is missing or a key stands twice, it is written anew.
fn assistant_item(json: &str) -> Option<Item> {
    let message = Object::parse(json)?;
    let mut keys = HashSet::new();
    let unique = message.members().all(|(key, _)| keys.insert(key));
    if unique && message.string("role").as_deref() == Some("assistant") {
        return Item::from_json(json).ok();
    }
    let mut out = String::from(r#"{"role":"assistant""#);
    for (key, _) in message.members() {
        if key != "role" && keys.remove(key) {
            let last = message.get(key).unwrap_or("null");
            out.push_str(&format!(",{}:{last}", serde_json::Value::from(key)));
        }
    }
    Item::from_json(&(out + "}")).ok()
}

fn is_event_stream(text: &str) -> bool {
    ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| text.starts_with(field))
}

fn malformed(message: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Malformed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Answer, ModelError> {
        read_reply(&ReplyHead::new(200), body.as_bytes(), &[])
    }

    #[test]
    fn keeps_the_message_byte_for_byte() {
        let message =
            r#"{"role":"assistant","content":"a","x":1.50,"extra_content":{"google":{"thought_signature":"s"}}}"#;
        let answer = read(&format!(r#"{{"choices":[{{"message":{message}}}]}}"#)).unwrap();
        assert_eq!(answer.message.json(), message);
        assert_eq!((answer.finish_reason, answer.usage), (None, None));
    }

    #[test]
    fn mends_a_message_that_is_no_message_of_the_assistant() {
        for message in [
            r#"{"content":"a"}"#,
            r#"{"role":null,"content":"a"}"#,
            r#"{"role":"","content":"a"}"#,
            r#"{"role":"model","content":"b","content":"a"}"#,
        ] {
            let answer = read(&format!(r#"{{"choices":[{{"message":{message}}}]}}"#)).unwrap();
            assert_eq!(answer.message.json(), r#"{"role":"assistant","content":"a"}"#, "{message}");
        }
    }

    #[test]
    fn every_call_of_the_message_has_its_answered_call() {
        let calls = r#"[{"id":"a","function":{"name":"x","arguments":"{\"n\":1}{\"n\":2}"}},{"id":"b"},{"id":"c","function":{"name":"y"}}]"#;
        let body = format!(r#"{{"choices":[{{"message":{{"role":"assistant","tool_calls":{calls}}}}}]}}"#);
        let answer = read(&body).unwrap();
        assert_eq!(answer.calls.len(), answer.message.tool_calls().len());
        assert_eq!(answer.calls[0].arguments, Err(super::super::MalformedArguments::Several(2)));
        assert_eq!((answer.calls[1].id.as_str(), answer.calls[1].arguments.as_deref()), ("c", Ok("{}")));
    }

    #[test]
    fn reads_through_a_lone_surrogate() {
        let answer = read(r#"{"choices":[{"message":{"role":"assistant","content":"a\ud83d"}}]}"#).unwrap();
        assert_eq!(answer.message.text().as_deref(), Some("a\u{fffd}"));
    }

    #[test]
    fn says_what_is_wrong_with_a_body() {
        for (body, message) in [
            ("", "the body is empty"),
            ("<html>", "the body is no JSON"),
            (r#"{"choices":["#, "the body is no JSON"),
            (r#"{"choices":[]}"#, "the reply has no choices"),
            (r#"{"id":"x"}"#, "the reply has no choices"),
            (r#"{"choices":[{}]}"#, "the reply's choice has no message"),
        ] {
            let error = read(body).unwrap_err();
            assert_eq!((error.kind(), error.message()), (ModelErrorKind::Malformed, message), "{body}");
            assert_eq!(error.body(), body);
        }
    }

    #[test]
    fn finds_errors_of_status_200() {
        use ModelErrorKind::{Auth, RateLimited, Server};
        for (body, kind) in [
            (r#"{"object":"error","message":"x","code":500}"#, Server),
            (r#"{"error":"Rate limit exceeded"}"#, RateLimited { retry_after: None }),
            (r#"{"choices":null,"base_resp":{"status_code":1004,"status_msg":"login fail"}}"#, Auth),
            (r#"{"choices":[],"error":{"message":"overloaded"}}"#, Server),
        ] {
            assert_eq!(read(body).unwrap_err().kind(), kind, "{body}");
        }
        let fine = r#"{"error":null,"choices":[{"message":{"role":"assistant","content":"a"},"error":{}}]}"#;
        assert!(read(fine).is_ok());
    }
}

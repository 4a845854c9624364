use std::time::Duration;

use serde_json::Value;

use super::retry_after::parse_wait;
use crate::json::{documents, readable};

/// What an error body of any shape says: an object, an array of one, flat, nested, a string, HTML, or nothing.
#[derive(Debug, Default)]
pub(super) struct ErrorBody {
    /// What the server says in words; empty if it says nothing.
    pub(super) message: String,
    /// Message, codes and types in lower case, to look for markers in. What was echoed of the request is not in it.
    pub(super) haystack: String,
    /// The HTTP status that the body states.
    pub(super) status: Option<u16>,
    /// A wait that the body states in a field.
    pub(super) retry_after: Option<Duration>,
}

/// How much of a body is looked at.
const MAX_READ: usize = 64 * 1024;

impl ErrorBody {
    pub(super) fn read(body: &[u8]) -> Self {
        let text = readable(body.get(..MAX_READ).unwrap_or(body));
        let text = text.trim();
        let (found, _) = documents(text);
        let root = found.first().and_then(|document| serde_json::from_str::<Value>(document).ok());
        match root {
            Some(Value::Array(errors)) => errors.first().map(Self::from_value).unwrap_or_default(),
            Some(root) => Self::from_value(&root),
            None => Self::from_message(without_tags(text)),
        }
    }

    fn from_message(message: String) -> Self {
        Self { haystack: message.to_lowercase(), message, ..Self::default() }
    }

    fn from_value(root: &Value) -> Self {
        if let Value::String(message) = root {
            return Self::from_message(message.clone());
        }
        let error = innermost(root);
        let mut message = message_of(error).or_else(|| message_of(root)).unwrap_or_default();
        // what OpenRouter got from the provider behind it
        if let Some(raw) = error.pointer("/metadata/raw") {
            let raw = raw.as_str().map_or_else(|| raw.to_string(), str::to_owned);
            message = if message.is_empty() { raw } else { format!("{message}: {raw}") };
        }
        let mut haystack = message.to_lowercase();
        for code in codes(root).chain(codes(error)) {
            haystack.push('\n');
            haystack.push_str(&code.to_lowercase());
        }
        Self {
            message,
            haystack,
            status: status_of(error).or_else(|| status_of(root)),
            retry_after: retry_after_of(error).or_else(|| retry_after_of(root)),
        }
    }
}

/// The object (or string) that describes the error.
fn innermost(root: &Value) -> &Value {
    let mut error = root;
    for _ in 0..3 {
        let inner = ["error", "errors", "base_resp"].iter().find_map(|key| error.get(key));
        let inner = inner.map(|inner| inner.get(0).unwrap_or(inner));
        match inner {
            Some(inner) if inner.is_object() || inner.as_str().is_some_and(|text| !text.is_empty()) => error = inner,
            _ => break,
        }
    }
    error
}

fn message_of(error: &Value) -> Option<String> {
    const KEYS: [&str; 9] = [
        "message",
        "msg",
        "detail",
        "error_message",
        "error_description",
        "status_msg",
        "error_msg",
        "title",
        "reason",
    ];
    if let Value::String(text) = error {
        return Some(text.clone());
    }
    KEYS.iter().find_map(|key| words(error.get(key)?)).filter(|message| !message.is_empty())
}

/// A message that is no string: the places and reasons of a validation error, without the input that it quotes.
fn words(message: &Value) -> Option<String> {
    const MAX_REASONS: usize = 8;
    match message {
        Value::String(text) => Some(text.clone()),
        Value::Array(reasons) => {
            let reasons: Vec<_> = reasons.iter().take(MAX_REASONS).filter_map(words).collect();
            (!reasons.is_empty()).then(|| reasons.join("; "))
        }
        Value::Object(_) => {
            let reason = message_of(message)?;
            let place = message.get("loc").and_then(Value::as_array).map(|steps| {
                let steps = steps.iter().map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned));
                steps.collect::<Vec<_>>().join(".")
            });
            Some(place.map_or(reason.clone(), |place| format!("{place}: {reason}")))
        }
        _ => None,
    }
}

/// The words that stand for the error in place of a sentence.
fn codes(error: &Value) -> impl Iterator<Item = String> {
    const KEYS: [&str; 6] = ["code", "type", "status", "error_type", "reason", "object"];
    let own = KEYS.iter().filter_map(|key| error.get(key));
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    own.chain(details.filter_map(|detail| detail.get("reason"))).filter_map(|code| match code {
        Value::String(code) => Some(code.clone()),
        Value::Number(code) => Some(code.to_string()),
        _ => None,
    })
}

fn status_of(error: &Value) -> Option<u16> {
    ["code", "status_code", "status", "http_status", "statusCode"].iter().find_map(|key| {
        let status = match error.get(key)? {
            Value::String(text) => text.trim().parse().ok()?,
            number => u16::try_from(number.as_u64()?).ok()?,
        };
        (400..600).contains(&status).then_some(status)
    })
}

fn retry_after_of(error: &Value) -> Option<Duration> {
    const PLACES: [&str; 5] = [
        "/retry_after",
        "/retry_after_seconds",
        "/metadata/retry_after",
        "/metadata/retry_after_seconds",
        "/metadata/headers/Retry-After",
    ];
    let wait = |value: &Value| match value {
        Value::String(text) => parse_wait(text),
        number => Duration::try_from_secs_f64(number.as_f64()?).ok(),
    };
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let delay = details.filter_map(|detail| wait(detail.get("retryDelay")?)).next();
    delay.or_else(|| PLACES.iter().find_map(|place| wait(error.pointer(place)?)))
}

/// The words of an HTML page; any other text as it is.
fn without_tags(text: &str) -> String {
    if !text.starts_with('<') {
        return text.to_owned();
    }
    let lower = text.to_ascii_lowercase();
    let title = lower.find("<title>").map(|at| at + "<title>".len());
    let title = title.and_then(|at| text.get(at..)).and_then(|rest| rest.split_once('<'));
    title.map_or_else(|| "an HTML page".to_owned(), |(title, _)| title.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &str) -> String {
        ErrorBody::read(body.as_bytes()).message
    }

    #[test]
    fn finds_the_message_in_every_shape() {
        for (body, want) in [
            (r#"{"error":{"message":"m"}}"#, "m"),
            (r#"[{"error":{"message":"m"}}]"#, "m"),
            (r#"{"error":"m","code":"c"}"#, "m"),
            (r#"{"message":"m"}"#, "m"),
            (r#"{"error":{"error":{"message":"m"}}}"#, "m"),
            (r#"{"errors":[{"message":"m"}]}"#, "m"),
            (r#"{"error":{"message":"p","metadata":{"raw":"busy"}}}"#, "p: busy"),
            (r#"{"detail":[{"loc":["body","model"],"msg":"required","input":"secret"}]}"#, "body.model: required"),
            (r#"{"message":{"detail":[{"msg":"a"},{"msg":"b"}]}}"#, "a; b"),
            ("{\"error\":{\"message\":\"m\"}}\n{\"error\":{\"message\":\"n\"}}", "m"),
            ("\"m\"", "m"),
            ("plain", "plain"),
            ("<html><TITLE> 413 Too Large</TITLE></html>", "413 Too Large"),
            ("<html>", "an HTML page"),
            ("", ""),
            ("[]", ""),
            ("{}", ""),
        ] {
            assert_eq!(message(body), want, "{body}");
        }
    }

    #[test]
    fn reads_status_codes_and_waits() {
        for body in [r#"{"error":{"code":503}}"#, r#"{"error":{"code":"503"}}"#, r#"{"status":503}"#] {
            assert_eq!(ErrorBody::read(body.as_bytes()).status, Some(503), "{body}");
        }
        assert_eq!(ErrorBody::read(br#"{"error":{"code":"3230"}}"#).status, None);
        let gemini = br#"[{"error":{"code":429,"details":[{"reason":"R"},{"retryDelay":"17s"}]}}]"#;
        let gemini = ErrorBody::read(gemini);
        assert_eq!(gemini.retry_after, Some(Duration::from_secs(17)));
        assert!(gemini.haystack.contains("\nr"));
        let negative = ErrorBody::read(br#"{"error":{"retry_after":-5}}"#);
        assert_eq!(negative.retry_after, None);
    }
}

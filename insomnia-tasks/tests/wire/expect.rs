//! A case: a reply and what is to be read from it. The form is that of `wire_cases.jsonl`.

use std::time::Duration;

use insomnia_tasks::wire::{
    Answer, ErrorDetail, MalformedArguments, ModelError, ModelErrorKind, ReplyHead, StreamReader, classify, read_reply,
};
use serde_json::Value;

/// The tools that every request of the cases offers.
pub(crate) const TOOLS: [&str; 4] = ["task_list", "task_get", "task_create", "task_update"];

pub(crate) struct Case(pub(crate) Value);

impl Case {
    pub(crate) fn id(&self) -> &str {
        self.0["id"].as_str().unwrap_or("?")
    }

    /// The reply's bytes; None where the case is about the request alone or about compression.
    pub(crate) fn body(&self) -> Option<&[u8]> {
        self.0["body"].as_str().map(str::as_bytes)
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.status() == 200 && self.0["request_hint"]["stream"] == true
    }

    pub(crate) fn status(&self) -> u16 {
        self.0["status"].as_u64().unwrap_or(200) as u16
    }

    /// What is read when the reply arrives cut into these chunks.
    pub(crate) fn read(&self, chunks: &[&[u8]]) -> Result<Answer, ModelError> {
        if self.is_stream() {
            let mut reader = StreamReader::new(&TOOLS);
            for chunk in chunks {
                reader.push(chunk);
            }
            return reader.finish();
        }
        let headers: Vec<_> = self.0["headers"].as_object().into_iter().flatten().collect();
        let headers: Vec<_> = headers.iter().map(|(key, value)| (key.as_str(), value.as_str().unwrap())).collect();
        let head = ReplyHead::new(self.status()).with_headers(&headers);
        let body = chunks.concat();
        if head.is_success() { read_reply(&head, &body, &TOOLS) } else { Err(classify(&head, &body)) }
    }

    /// Compares everything that the case expects.
    pub(crate) fn check(&self) {
        let expect = &self.0["expect"];
        let read = self.read(&[self.body().unwrap()]);
        match (expect["error_class"].as_str(), read) {
            (Some(class), Err(error)) => self.check_error(class, &error),
            (None, Ok(answer)) if self.0["expect"]["must_send"].is_object() && self.status() != 200 => {
                panic!("{}: read {answer:?}", self.id())
            }
            (None, Ok(answer)) => self.check_answer(&answer),
            (_, read) => panic!("{}: expected {expect}, read {read:?}", self.id()),
        }
    }

    fn check_answer(&self, answer: &Answer) {
        let (id, expect) = (self.id(), &self.0["expect"]);
        assert_eq!(answer.message.text().unwrap_or_default(), expect["text"].as_str().unwrap_or(""), "{id}");
        let calls = expect["tool_calls"].as_array().unwrap();
        assert_eq!(answer.calls.len(), calls.len(), "{id}: {answer:?}");
        for (call, want) in answer.calls.iter().zip(calls) {
            assert_eq!(call.name, want["name"], "{id}");
            if let Some(id) = want["id"].as_str() {
                assert_eq!(call.id, id);
            }
            match (&call.arguments, want["error"].as_str(), want["or_error"].as_str()) {
                (Ok(arguments), None, _) => {
                    assert_eq!(serde_json::from_str::<Value>(arguments).unwrap(), want["arguments"], "{id}");
                }
                (Err(MalformedArguments::Truncated), Some("truncated"), _) => {}
                (Err(_), Some("malformed"), _) | (Err(_), None, Some("malformed")) => {}
                (arguments, ..) => panic!("{id}: {arguments:?} for {want}"),
            }
        }
        if let Some(goes_on) = expect["continue_loop"].as_bool() {
            assert_eq!(!answer.calls.is_empty(), goes_on, "{id}");
        }
        if let Some(finish) = expect["finish"].as_str() {
            assert_eq!(answer.finish_reason.as_deref(), Some(finish), "{id}");
        }
        let message: Value = serde_json::from_str(answer.message.json()).unwrap();
        for (field, want) in expect["keep"].as_object().into_iter().flatten() {
            assert_eq!(message[field], *want, "{id}: {field}");
        }
        let usage = serde_json::to_value(answer.usage).unwrap();
        for (field, want) in expect["usage"].as_object().into_iter().flatten() {
            assert_eq!(usage[field], *want, "{id}: {field}");
        }
        self.check_consistent(answer);
    }

    /// What holds for every answer: its calls are those of its message, and what a stream built can be sent back.
    fn check_consistent(&self, answer: &Answer) {
        let calls = answer.message.tool_calls();
        let names = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<_>>();
        assert_eq!(
            names(calls.iter().map(|call| &call.name).collect()),
            names(answer.calls.iter().map(|call| &call.name).collect()),
            "{}",
            self.id()
        );
        for (call, answered) in calls.iter().zip(&answer.calls).filter(|_| self.is_stream()) {
            assert_eq!(call.id, answered.id);
            assert!(serde_json::from_str::<Value>(&call.arguments).unwrap().is_object(), "{}", self.id());
        }
    }

    fn check_error(&self, class: &str, error: &ModelError) {
        let (id, expect) = (self.id(), &self.0["expect"]);
        let kind = error.kind();
        let fits = match class {
            "retryable" => matches!(kind, ModelErrorKind::RateLimited { .. } | ModelErrorKind::Server),
            "invalid_request" => matches!(kind, ModelErrorKind::InvalidRequest | ModelErrorKind::Billing),
            "context_length" => kind == ModelErrorKind::ContextLength,
            "model_not_found" => kind == ModelErrorKind::ModelNotFound,
            "auth" => kind == ModelErrorKind::Auth,
            "malformed" => kind == ModelErrorKind::Malformed,
            "interrupted" => kind == ModelErrorKind::Interrupted,
            other => panic!("{id}: unknown class {other}"),
        };
        assert!(fits, "{id}: expected {class}, read {error:?}");
        let retryable = expect["retryable"].as_bool().or(expect["retry_same_body"].as_bool());
        let of_class = matches!(class, "retryable" | "malformed" | "interrupted");
        assert_eq!(error.is_retryable(), retryable.unwrap_or(of_class), "{id}: {error:?}");
        if let Some(status) = expect["effective_status"].as_u64() {
            assert_eq!(error.status().map(u64::from), Some(status), "{id}");
        }
        if let Some(seconds) = expect["retry_after_s"].as_f64() {
            assert_eq!(error.retry_after(), Some(Duration::from_secs_f64(seconds)), "{id}");
        }
        assert_eq!(kind == ModelErrorKind::Billing, expect["billing"] == true, "{id}");
        let detail = match expect["subtype"].as_str() {
            Some("request_over_rate_cap") => Some(ErrorDetail::RequestOverRateCap),
            Some("payload_too_large") => Some(ErrorDetail::PayloadTooLarge),
            Some("tools_unsupported") => Some(ErrorDetail::ToolsUnsupported),
            Some(other) => panic!("{id}: unknown subtype {other}"),
            None if expect["guess"] == true => Some(ErrorDetail::Guessed),
            None => error.detail(),
        };
        assert_eq!(error.detail(), detail, "{id}");
        let text = expect["partial_text"].as_str().or(expect["text"].as_str()).unwrap_or_default();
        assert_eq!(error.partial_text().unwrap_or_default(), text, "{id}");
        let line = error.to_string();
        assert!(!line.contains('\n') && line.chars().count() < 600, "{id}: {line}");
    }
}

//! What must come of a case.

use std::time::Duration;

use insomnia_tasks::{
    Item, ItemKind,
    wire::{ErrorDetail, ModelError, ModelErrorKind},
    worker::Event,
};
use serde_json::Value;

use super::{Heard, case::Case};

/// The answer that the case's reply is, as the history and the listener have it.
pub(crate) fn check_answer(case: &Case, new: &[Item], requests: usize, heard: &Heard) {
    let (id, expect) = (case.id(), case.expect());
    let answer = new.iter().find(|item| item.kind() == ItemKind::Assistant).expect("an answer");
    assert_eq!(answer.text().unwrap_or_default(), expect["text"].as_str().unwrap_or_default(), "{id}");
    let calls = expect["tool_calls"].as_array().unwrap();
    check_calls(case, calls, heard);
    assert_eq!(requests, if calls.is_empty() { 1 } else { 2 }, "{id}: a round of calls, or none");
    assert_eq!(heard.text(), answer.text().unwrap_or_default() + if calls.is_empty() { "" } else { "ok" }, "{id}");
    let message: Value = serde_json::from_str(answer.json()).unwrap();
    for (field, want) in expect["keep"].as_object().into_iter().flatten() {
        assert_eq!(message[field], *want, "{id}: {field}");
    }
    let events = heard.events();
    let usage = events.iter().find_map(|event| match event {
        Event::Usage(usage) => serde_json::to_value(usage).ok(),
        _ => None,
    });
    for (field, want) in expect["usage"].as_object().into_iter().flatten() {
        assert_eq!(usage.as_ref().unwrap()[field], *want, "{id}: {field}");
    }
    let finish = events.iter().find_map(|event| match event {
        Event::RequestFinished { finish_reason, .. } => Some(finish_reason.clone()),
        _ => None,
    });
    if let Some(want) = expect["finish"].as_str() {
        assert_eq!(finish.flatten().as_deref(), Some(want), "{id}");
    }
}

fn check_calls(case: &Case, calls: &[Value], heard: &Heard) {
    let id = case.id();
    let events = heard.events();
    let started: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolStarted { name, arguments, .. } => Some((name, arguments)),
            _ => None,
        })
        .collect();
    let finished: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolFinished { ok, result, .. } => Some((*ok, result)),
            _ => None,
        })
        .collect();
    assert_eq!((started.len(), finished.len()), (calls.len(), calls.len()), "{id}");
    for ((call, (name, arguments)), (ok, result)) in calls.iter().zip(started).zip(finished) {
        assert_eq!(*name, call["name"], "{id}");
        match (ok, call["error"].as_str(), call["or_error"].as_str()) {
            (true, None, _) => {
                assert_eq!(serde_json::from_str::<Value>(arguments).unwrap(), call["arguments"], "{id}");
            }
            (false, Some("truncated"), _) => assert!(result.contains("cut off"), "{id}: {result}"),
            (false, Some("malformed"), _) | (false, None, Some("malformed")) => {
                assert!(result.contains("JSON"), "{id}: {result}");
            }
            _ => panic!("{id}: {call} gave {ok} {result}"),
        }
    }
}

/// The error that the case's reply is.
pub(crate) fn check_error(case: &Case, error: &ModelError) {
    let (id, expect) = (case.id(), case.expect());
    let kind = error.kind();
    let class = expect["error_class"].as_str().unwrap_or_else(|| panic!("{id}: {error}"));
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
    assert_eq!(error.is_retryable(), is_retryable(case), "{id}: {error:?}");
    let status = expect["effective_status"].as_u64().or(case.status().map(u64::from));
    let stated = error.status().map(u64::from);
    assert!(stated == status || expect["effective_status"].is_null() && stated > Some(399), "{id}: {error:?}");
    if let Some(seconds) = expect["retry_after_s"].as_f64() {
        assert_eq!(error.retry_after(), Some(Duration::from_secs_f64(seconds)), "{id}");
        assert!(error.to_string().contains("asks to wait"), "{id}: {error}");
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
    assert_eq!(error.partial_text().unwrap_or_default(), expect["partial_text"].as_str().unwrap_or_default(), "{id}");
    // nothing of the reply is lost
    for (name, value) in case.0["headers"].as_object().into_iter().flatten() {
        let kept = error.headers().iter().any(|(own, text)| own == name && text == value.as_str().unwrap());
        assert!(kept, "{id}: {name} is not in {:?}", error.headers());
    }
    let body = case.0["body"].as_str().unwrap_or_default();
    match case.streams() {
        true => assert!(body.contains(error.body()), "{id}"),
        false => assert_eq!(error.body(), body, "{id}"),
    }
}

pub(crate) fn is_retryable(case: &Case) -> bool {
    let expect = case.expect();
    let of_class = matches!(expect["error_class"].as_str(), Some("retryable" | "malformed" | "interrupted"));
    expect["retryable"].as_bool().or(expect["retry_same_body"].as_bool()).unwrap_or(of_class)
}

use std::fmt;

use super::{
    error::Inner,
    error_kind::{ErrorDetail, ModelErrorKind, RefusedRole},
};

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, advice) = explain(self);
        let message = one_line(&self.message);
        match (self.status, message.is_empty()) {
            (Some(status), false) => write!(f, "{what} (HTTP {status}: {message})")?,
            (Some(status), true) => write!(f, "{what} (HTTP {status})")?,
            (None, false) => write!(f, "{what} ({message})")?,
            (None, true) => f.write_str(what)?,
        }
        match &self.parameter {
            Some(parameter) => write!(f, "; leave out or change the parameter `{parameter}`")?,
            None => write!(f, "; {advice}")?,
        }
        match self.retry_after {
            Some(wait) => write!(f, " (the server asks to wait {:.1} s)", wait.as_secs_f64()),
            None => Ok(()),
        }
    }
}

/// What is wrong and what to do.
fn explain(error: &Inner) -> (&'static str, &'static str) {
    use ModelErrorKind as Kind;
    match (error.kind, error.detail) {
        (_, Some(ErrorDetail::Placement(RefusedRole::Assistant))) => {
            ("the server refused the place of an assistant message", "end the conversation with a user message")
        }
        (_, Some(ErrorDetail::Placement(_))) => (
            "the server refused the place of a message",
            "place late system messages with `merge` (`--reminder merge`), the form that no server is known to refuse",
        ),
        (_, Some(ErrorDetail::NullContent)) => {
            ("the server refused `content: null`", "send an empty string in its place")
        }
        (_, Some(ErrorDetail::EmptyContent)) => {
            ("the server refused empty content", "choose a dialect that sends `content: null`")
        }
        (_, Some(ErrorDetail::CallId)) => {
            ("the server refused the id of a tool call", "choose a dialect with call ids of nine letters or digits")
        }
        (_, Some(ErrorDetail::MessageField(_))) => {
            ("the server refused a field of a message", "choose a dialect that drops the field")
        }
        (_, Some(ErrorDetail::StreamOptions)) => {
            ("the server refused `stream_options`", "do not ask for the count of tokens of a stream")
        }
        (_, Some(ErrorDetail::ToolsUnsupported)) => ("the model has no tools", "choose one that has"),
        (_, Some(ErrorDetail::PayloadTooLarge)) => ("the request is too large for the server", "compact the history"),
        (_, Some(ErrorDetail::RequestOverRateCap)) => {
            ("the request exceeds the account's tokens per minute", "compact the history or raise the limit")
        }
        (Kind::ContextLength, Some(ErrorDetail::Guessed)) => {
            ("the server refused the request without a reason", "perhaps it is too long: compact the history")
        }
        (Kind::Auth, _) => ("the server refused the API key", "check OPENAI_API_KEY and what the key may do"),
        (Kind::RateLimited { .. }, _) => ("the server limits the rate", "retry later"),
        (Kind::ContextLength, _) => ("the conversation is too long for the model", "compact the history"),
        (Kind::InvalidRequest, _) if matches!(error.status, Some(300..400 | 404 | 410)) => {
            ("the server has nothing at this address", "check the base URL")
        }
        (Kind::InvalidRequest, _) => ("the server refused the request", "change the request or the dialect"),
        (Kind::ModelNotFound, _) => ("the server does not know the model", "check the model's name and the base URL"),
        (Kind::Billing, _) => ("the account has no credit or quota left", "top it up or use another key"),
        (Kind::Server, _) => ("the server failed", "retry later"),
        (Kind::Malformed, _) => ("the reply cannot be used", "retry, or check that the base URL is right"),
        (Kind::Interrupted, _) => ("the stream ended before the answer did", "retry"),
        (Kind::Timeout, _) => ("the server took too long", "retry, or allow more time"),
        (Kind::Connect, _) => ("no connection to the server", "check the base URL and the network"),
    }
}

/// At most 300 characters on one line.
fn one_line(message: &str) -> String {
    const MAX_QUOTED: usize = 300;
    let mut line = String::new();
    let mut words = message.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    // a longer message is cut below, so its end need not be looked at
    for word in words.by_ref().take(MAX_QUOTED) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(MAX_QUOTED - 1) {
        Some((end, last)) if end + last.len_utf8() < line.len() => {
            line.truncate(end);
            line + "…"
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_at_most_three_hundred_characters() {
        assert_eq!(one_line(&"é".repeat(300)), "é".repeat(300));
        assert_eq!(one_line(&"é ".repeat(9_000)).chars().count(), 300);
        assert!(one_line(&"x".repeat(301)).ends_with("x…"));
    }
}

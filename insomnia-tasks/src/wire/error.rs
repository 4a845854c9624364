use std::{error::Error, fmt, time::Duration};

use super::error_kind::{ErrorDetail, ModelErrorKind};

/// A call of the model that gave no answer.
///
/// The message is one line that says what is wrong and what to do; it quotes at most 300 characters of the server's own.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ModelError(Box<Inner>);

#[derive(Debug, thiserror::Error)]
struct Inner {
    kind: ModelErrorKind,
    message: String,
    status: Option<u16>,
    headers: Vec<(String, String)>,
    body: String,
    retry_after: Option<Duration>,
    detail: Option<ErrorDetail>,
    partial_text: Option<String>,
    #[source]
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ModelError {
    /// An error of this kind. The message says what happened, in lower case; what to do is added from the kind.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let retry_after = match kind {
            ModelErrorKind::RateLimited { retry_after } => retry_after,
            _ => None,
        };
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            status: None,
            headers: Vec::new(),
            body: String::new(),
            retry_after,
            detail: None,
            partial_text: None,
            source: None,
        }))
    }

    /// What kind of error this is.
    pub fn kind(&self) -> ModelErrorKind {
        self.0.kind
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        use ModelErrorKind as Kind;
        match self.0.kind {
            Kind::RateLimited { .. } | Kind::Server | Kind::Malformed => true,
            Kind::Interrupted | Kind::Timeout | Kind::Connect => true,
            Kind::Auth | Kind::ContextLength | Kind::InvalidRequest | Kind::ModelNotFound | Kind::Billing => false,
        }
    }

    /// The HTTP status. Where the body of a reply states another one, as gateways do, it is that one.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// What the server said, or what this crate found wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The reply's body as it came, cut at 16 KiB; empty if there was none.
    pub fn body(&self) -> &str {
        &self.0.body
    }

    /// The reply's headers, without cookies.
    pub fn headers(&self) -> &[(String, String)] {
        &self.0.headers
    }

    /// How long the server asks to wait, uncapped.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// What else is known.
    pub fn detail(&self) -> Option<ErrorDetail> {
        self.0.detail
    }

    /// The text that had arrived before a stream failed.
    pub fn partial_text(&self) -> Option<&str> {
        self.0.partial_text.as_deref()
    }

    /// The same error with its cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The same error with the text that had arrived.
    #[must_use]
    pub fn with_partial_text(mut self, text: impl Into<String>) -> Self {
        self.0.partial_text = Some(text.into());
        self
    }

    /// The same error without this secret: some servers quote the API key that they refuse.
    #[must_use]
    pub fn without_secret(mut self, secret: &str) -> Self {
        if !secret.is_empty() {
            self.0.message = self.0.message.replace(secret, "***");
            self.0.body = self.0.body.replace(secret, "***");
        }
        self
    }

    pub(super) fn with_status(mut self, status: Option<u16>) -> Self {
        self.0.status = status;
        self
    }

    pub(super) fn with_detail(mut self, detail: Option<ErrorDetail>) -> Self {
        self.0.detail = detail;
        self
    }

    pub(super) fn with_retry_after(mut self, retry_after: Option<Duration>) -> Self {
        self.0.retry_after = retry_after;
        self
    }

    pub(super) fn with_body(mut self, body: &[u8]) -> Self {
        const MAX_BODY: usize = 16 * 1024;
        self.0.body = String::from_utf8_lossy(body.get(..MAX_BODY).unwrap_or(body)).into_owned();
        self
    }

    pub(super) fn with_headers(mut self, headers: &[(&str, &str)]) -> Self {
        const MAX_HEADERS: usize = 64;
        let kept = headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("set-cookie")).take(MAX_HEADERS);
        self.0.headers = kept.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self
    }
}

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
        write!(f, "; {advice}")?;
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
        (_, Some(ErrorDetail::Placement(_))) => {
            ("the server refused the place of a message", "merge late system messages into the message before them")
        }
        (_, Some(ErrorDetail::NullContent)) => {
            ("the server refused `content: null`", "send an empty string in its place")
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
    fn says_what_is_wrong_and_what_to_do_on_one_line() {
        let error = ModelError::new(ModelErrorKind::Auth, "Incorrect\nAPI\tkey").with_status(Some(401));
        let want = "the server refused the API key (HTTP 401: Incorrect API key); check OPENAI_API_KEY and what the key may do";
        assert_eq!(error.to_string(), want);
        let wait = ModelErrorKind::RateLimited { retry_after: Some(Duration::from_millis(400)) };
        let want = "the server limits the rate; retry later (the server asks to wait 0.4 s)";
        assert_eq!(ModelError::new(wait, "").to_string(), want);
    }

    #[test]
    fn quotes_at_most_three_hundred_characters() {
        assert_eq!(one_line(&"é".repeat(300)), "é".repeat(300));
        assert_eq!(one_line(&"é ".repeat(9_000)).chars().count(), 300);
        assert!(one_line(&"x".repeat(301)).ends_with("x…"));
    }

    #[test]
    fn forgets_a_secret() {
        let error = ModelError::new(ModelErrorKind::Auth, "key sk-123 is bad").with_body(b"{sk-123}");
        let error = error.without_secret("sk-123").without_secret("");
        assert_eq!((error.message(), error.body()), ("key *** is bad", "{***}"));
    }

    #[test]
    fn keeps_the_source() {
        let error = ModelError::new(ModelErrorKind::Connect, "x").with_source(std::io::Error::other("refused"));
        assert_eq!(error.source().unwrap().to_string(), "refused");
    }
}

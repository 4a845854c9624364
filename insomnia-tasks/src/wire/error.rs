use std::{error::Error, fmt, time::Duration};

use serde_json::Value;

use super::error_kind::{ErrorDetail, ModelErrorKind};

/// A call of the model that gave no answer.
///
/// The message is one line that says what is wrong and what to do; it quotes at most 300 characters of the server's own.
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct ModelError(Box<Inner>);

/// Short, since this is how an error that `main` returns is printed: the message, the kind, and nothing of headers and body.
impl fmt::Debug for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelError")
            .field("message", &self.to_string())
            .field("kind", &self.kind())
            .finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) struct Inner {
    pub(super) kind: ModelErrorKind,
    pub(super) message: String,
    pub(super) status: Option<u16>,
    headers: Vec<(String, String)>,
    body: String,
    pub(super) retry_after: Option<Duration>,
    pub(super) detail: Option<ErrorDetail>,
    pub(super) parameter: Option<String>,
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
            parameter: None,
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

    /// The parameter of the request that the server refused, where it is one that the caller had asked for.
    pub fn parameter(&self) -> Option<&str> {
        self.0.parameter.as_deref()
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
        // a short one is a dummy, and may stand in any word
        if secret.len() >= 6 {
            let masked = |text: &str| text.replace(secret, "***");
            self.0.message = masked(&self.0.message);
            self.0.body = masked(&self.0.body);
            self.0.partial_text = self.0.partial_text.as_deref().map(masked);
        }
        self
    }

    /// The same error, with the name of the parameter that it is about: of these the first that the server speaks of.
    #[must_use]
    pub fn with_parameter_of<'a>(mut self, sent: impl IntoIterator<Item = &'a str>) -> Self {
        if self.0.kind == ModelErrorKind::InvalidRequest {
            let named = sent.into_iter().find(|name| has_word(&self.0.message, name) || self.0.names_as_param(name));
            self.0.parameter = named.map(str::to_owned);
        }
        self
    }

    /// The same error with the status of the reply, where the body states no other.
    #[cfg(feature = "client")]
    pub(crate) fn or_status(mut self, status: u16) -> Self {
        self.0.status.get_or_insert(status);
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

    pub(crate) fn with_body(mut self, body: &[u8]) -> Self {
        const MAX_BODY: usize = 16 * 1024;
        self.0.body = String::from_utf8_lossy(body.get(..MAX_BODY).unwrap_or(body)).into_owned();
        self
    }

    pub(crate) fn with_headers(mut self, headers: &[(&str, &str)]) -> Self {
        const MAX_HEADERS: usize = 64;
        let kept = headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("set-cookie")).take(MAX_HEADERS);
        self.0.headers = kept.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self
    }
}

impl Inner {
    /// Whether the body has it in a field `param`, as OpenAI's errors do.
    fn names_as_param(&self, name: &str) -> bool {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        let param = body.pointer("/error/param").or_else(|| body.get("param"));
        param.and_then(Value::as_str).is_some_and(|param| has_word(param, name))
    }
}

/// Whether a name stands in a text by itself: `max_tokens` is not in `max_tokens_to_sample`.
fn has_word(text: &str, name: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + name.len()..).unwrap_or_default());
        !before.ends_with(inside) && !after.starts_with(inside)
    })
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
    fn names_the_parameter_that_was_refused() {
        let refused = |message: &str, body: &str| {
            let error = ModelError::new(ModelErrorKind::InvalidRequest, message).with_body(body.as_bytes());
            error.with_parameter_of(["tool_choice", "max_tokens"])
        };
        let error = refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "");
        assert_eq!(error.parameter(), Some("max_tokens"));
        assert!(error.to_string().ends_with("; leave out or change the parameter `max_tokens`"), "{error}");
        assert_eq!(refused("no", r#"{"error":{"param":"tool_choice"}}"#).parameter(), Some("tool_choice"));
        assert_eq!(refused("max_tokens_to_sample is missing", "{}").parameter(), None);
        let busy = ModelError::new(ModelErrorKind::Server, "max_tokens").with_parameter_of(["max_tokens"]);
        assert_eq!(busy.parameter(), None);
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

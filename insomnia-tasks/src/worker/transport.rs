use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    time::Duration,
};

use async_openai::config::Config;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use secrecy::ExposeSecret;
use tokio::time::timeout;

use super::{http::Http, response::Response};
use crate::wire::{ModelError, ModelErrorKind};

/// How long to wait for a model server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// For the connection; 10 seconds by default. A [client of your own](super::WorkerBuilder::http_client) has its own.
    pub connect: Duration,
    /// From the request to the reply's first byte; 10 minutes by default, since without streaming nothing comes before the end.
    pub first_byte: Duration,
    /// Between two pieces of a reply; 5 minutes by default. Keep-alive comments and empty events do not count as pieces.
    pub idle: Duration,
    /// For one try from the request to the end of the reply; none by default.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(300),
            total: None,
        }
    }
}

/// Sends requests to where an async-openai client would send them (address, key, headers, query) and returns replies as
/// they come.
///
/// async-openai's own methods read replies into its types and lose the status, headers and body of many that are not
/// OpenAI's. Its `byot` and `middleware` features would mend that, but they reach into the host: with `byot` the typed
/// `create_stream` no longer sets `stream`, and `middleware` adds a variant to its error.
pub(crate) struct Transport {
    config: Arc<dyn Config>,
    http: Http,
}

impl Transport {
    pub(super) fn new(config: Arc<dyn Config>, http: Http) -> Self {
        Self { config, http }
    }

    /// Where the requests go.
    pub(super) fn base_url(&self) -> &str {
        self.config.api_base()
    }

    /// The error without the API key, which some servers quote when they refuse it.
    pub(super) fn without_key(&self, error: ModelError) -> ModelError {
        error.without_secret(self.config.api_key().expose_secret())
    }

    /// The headers of the client's configuration. async-openai panics where one of its settings is no header's value.
    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let refused = |message| ModelError::new(ModelErrorKind::Auth, message);
        if HeaderValue::from_str(self.config.api_key().expose_secret()).is_err() {
            return Err(refused("the API key has characters that no header can carry, such as a line break"));
        }
        panic::catch_unwind(AssertUnwindSafe(|| self.config.headers())).map_err(|_| {
            refused("the organisation, the project or another header has characters that no header can carry, such as a line break")
        })
    }

    /// Sends one request and waits for the head of the reply; any status is a reply.
    pub(super) async fn send(&self, body: Vec<u8>, timeouts: &Timeouts) -> Result<Response, ModelError> {
        let mut headers = self.headers()?;
        headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static("gzip"));
        let http = self.http.client().map_err(connection_error)?;
        let request = http
            .post(self.config.url("/chat/completions"))
            .query(&self.config.query())
            .headers(headers)
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        match timeout(timeouts.first_byte, request.send()).await {
            Ok(sent) => sent.map(|http| Response::new(http, timeouts)).map_err(connection_error),
            Err(_) => Err(too_slow("no reply", timeouts.first_byte)),
        }
    }
}

/// The error of a limit that was reached.
pub(super) fn too_slow(what: &str, limit: Duration) -> ModelError {
    ModelError::new(ModelErrorKind::Timeout, format!("{what} within {limit:?}"))
}

fn connection_error(error: reqwest::Error) -> ModelError {
    // an address may hold a key
    let error = error.without_url();
    let kind = match () {
        () if error.is_builder() => ModelErrorKind::InvalidRequest,
        () if error.is_timeout() && !error.is_connect() => ModelErrorKind::Timeout,
        () => ModelErrorKind::Connect,
    };
    let cause = innermost(&error);
    let message = match tls_advice(&cause) {
        Some(advice) => format!("TLS: {cause}; {advice}"),
        None => cause,
    };
    ModelError::new(kind, message).with_source(error)
}

/// What to do about a failed TLS handshake.
fn tls_advice(cause: &str) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|word| cause.contains(word));
    if says(&["InvalidContentType", "corrupt message", "wrong version number", "packet length too long"]) {
        return Some("the server does not speak TLS, so the base URL begins with `http://`");
    }
    let distrusted = "trust its certificate, in the system or with an `http_client` of your own";
    says(&["certificate", "UnknownIssuer"]).then_some(distrusted)
}

/// The cause that tells most: "connection refused" rather than "error sending request".
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

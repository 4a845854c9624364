use std::{sync::Arc, time::Duration};

use async_openai::config::Config;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use secrecy::ExposeSecret;

use crate::wire::{ModelError, ModelErrorKind};

/// How long to wait for a model server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// For the connection; 10 seconds by default. A [client of your own](super::WorkerBuilder::http_client) has its own.
    pub connect: Duration,
    /// From the request to the reply's first byte; 10 minutes by default, since without streaming nothing comes before the end.
    pub first_byte: Duration,
    /// Between two pieces of a reply; 5 minutes by default. Keep-alive comments do not count as pieces.
    pub idle: Duration,
    /// For the whole call; none by default.
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
#[derive(Clone)]
pub(crate) struct Transport {
    config: Arc<dyn Config>,
    http: reqwest::Client,
}

impl Transport {
    pub(super) fn new(config: Arc<dyn Config>, http: reqwest::Client) -> Self {
        Self { config, http }
    }

    /// The error without the API key, which some servers quote when they refuse it.
    pub(super) fn without_key(&self, error: ModelError) -> ModelError {
        error.without_secret(self.config.api_key().expose_secret())
    }

    /// Sends one request; any status is a reply.
    pub(super) async fn send(&self, body: Vec<u8>) -> Result<reqwest::Response, ModelError> {
        if HeaderValue::from_str(self.config.api_key().expose_secret()).is_err() {
            // async-openai would panic
            let message = "the API key has characters that no header can carry, such as a line break";
            return Err(ModelError::new(ModelErrorKind::Auth, message));
        }
        let request = self
            .http
            .post(self.config.url("/chat/completions"))
            .query(&self.config.query())
            .headers(self.config.headers())
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        request.send().await.map_err(connection_error)
    }
}

fn connection_error(error: reqwest::Error) -> ModelError {
    // an address may hold a key
    let error = error.without_url();
    let kind = match () {
        () if error.is_builder() => ModelErrorKind::InvalidRequest,
        () if error.is_timeout() && !error.is_connect() => ModelErrorKind::Timeout,
        () => ModelErrorKind::Connect,
    };
    ModelError::new(kind, innermost(&error)).with_source(error)
}

/// The cause that tells most: "connection refused" rather than "error sending request".
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use hyper::{HeaderMap, Method};
use serde_json::Value;

/// A request as it arrived. Its views are lenient: what is missing or of another shape is empty.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// The HTTP method.
    pub method: Method,
    /// The path with its query, as sent: `/v1/chat/completions`.
    pub path: String,
    /// All headers. `Debug` output leaves the API key out.
    pub headers: HeaderMap,
    /// The body, byte for byte.
    pub body: Bytes,
    /// The body as JSON, once it was asked for: conversations are long.
    parsed: Arc<OnceLock<Value>>,
}

impl RecordedRequest {
    pub(super) fn new(method: Method, path: String, headers: HeaderMap, body: Bytes) -> Self {
        Self { method, path, headers, body, parsed: Arc::default() }
    }

    /// A header's text; none where it is absent or no text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as JSON; null where it is none.
    pub fn json(&self) -> Value {
        self.parsed().clone()
    }

    pub(super) fn parsed(&self) -> &Value {
        self.parsed.get_or_init(|| serde_json::from_slice(&self.body).unwrap_or_default())
    }

    /// The body as text; undecodable bytes are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The conversation that was sent.
    pub fn messages(&self) -> Vec<Value> {
        self.parsed()["messages"].as_array().cloned().unwrap_or_default()
    }

    /// The names of the tools on offer, in order.
    pub fn tool_names(&self) -> Vec<String> {
        let tools = self.parsed()["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).map(str::to_owned).collect()
    }

    /// Whether an event stream was asked for.
    pub fn wants_stream(&self) -> bool {
        self.parsed()["stream"] == true
    }
}

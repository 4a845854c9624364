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
}

impl RecordedRequest {
    /// A header's text; none where it is absent or no text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as JSON; null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body as text; undecodable bytes are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The conversation that was sent.
    pub fn messages(&self) -> Vec<Value> {
        match self.json()["messages"].take() {
            Value::Array(messages) => messages,
            _ => Vec::new(),
        }
    }

    /// The names of the tools on offer, in order.
    pub fn tool_names(&self) -> Vec<String> {
        let json = self.json();
        let tools = json["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).map(str::to_owned).collect()
    }

    /// Whether an event stream was asked for.
    pub fn wants_stream(&self) -> bool {
        self.json()["stream"] == true
    }
}

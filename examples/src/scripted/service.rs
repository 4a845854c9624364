use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicUsize},
    time::{SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{Method, Request, Response, StatusCode, body::Incoming, header};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{
    End, RecordedRequest, Reply, ScriptedModel,
    answer::{Answer, Context},
    delivery::{Body, Delivery, HangUp},
    reply::Content,
};

/// What all connections share: the model, and the record of what arrived.
pub(super) struct Service {
    model: Box<dyn ScriptedModel>,
    api_key: Option<String>,
    // A std mutex: it is never held across an await.
    log: Mutex<Log>,
    pub(super) arrived: watch::Sender<usize>,
    pub(super) hang_ups: watch::Sender<usize>,
    pub(super) connections: AtomicUsize,
}

#[derive(Default)]
struct Log {
    requests: Vec<RecordedRequest>,
    asked: usize,
    last_call: u64,
}

impl Service {
    pub(super) fn new(model: Box<dyn ScriptedModel>, api_key: Option<String>) -> Self {
        let (arrived, hang_ups) = (watch::Sender::new(0), watch::Sender::new(0));
        Self { model, api_key, log: Mutex::default(), arrived, hang_ups, connections: AtomicUsize::new(0) }
    }

    pub(super) fn requests(&self) -> Vec<RecordedRequest> {
        self.log().requests.clone()
    }

    pub(super) async fn handle(&self, request: Request<Incoming>) -> Response<Body> {
        let hang_up = HangUp::new(&self.hang_ups);
        let (head, body) = request.into_parts();
        let mut headers = head.headers;
        if let Some(key) = headers.get_mut(header::AUTHORIZATION) {
            key.set_sensitive(true);
        }
        let Ok(body) = body.collect().await else {
            return bare(StatusCode::BAD_REQUEST, "the body was cut off".to_owned(), hang_up);
        };
        let (method, path) = (head.method, head.uri.to_string());
        let request = RecordedRequest::new(method, path, headers, body.to_bytes());
        let refusal = self.refusal(&request);
        let number = self.record(&request, refusal.is_none());
        let reply = refusal.unwrap_or_else(|| self.model.answer(&request, number));
        for gate in &reply.delivery.before_reply {
            gate.pass().await;
        }
        self.send(reply, &request, number, hang_up)
    }

    /// The reply to what the model is not asked about.
    fn refusal(&self, request: &RecordedRequest) -> Option<Reply> {
        if let Some(key) = &self.api_key
            && request.header("authorization") != Some(&format!("Bearer {key}"))
        {
            return Some(refuse(401, "incorrect API key provided", Some("invalid_api_key")));
        }
        let path = request.path.split('?').next().unwrap_or_default();
        match (&request.method, path) {
            (&Method::POST, "/v1/chat/completions" | "/v1/responses") if request.parsed().is_object() => None,
            (&Method::POST, "/v1/chat/completions" | "/v1/responses") => {
                Some(refuse(400, "the body is no JSON object", None))
            }
            (&Method::GET, "/v1/models") => {
                let model = json!({"id": "scripted", "object": "model", "created": 0, "owned_by": "insomnia-tasks"});
                Some(Reply::error(200, json!({"object": "list", "data": [model]})))
            }
            (_, "/v1/chat/completions" | "/v1/responses" | "/v1/models") => {
                Some(refuse(405, "wrong method for this path", None))
            }
            (method, path) => Some(refuse(404, &format!("unknown URL ({method} {path})"), Some("unknown_url"))),
        }
    }

    /// Keeps the request and returns its number among those that go to the model.
    fn record(&self, request: &RecordedRequest, asked: bool) -> usize {
        let mut log = self.log();
        log.requests.push(request.clone());
        let number = log.asked;
        log.asked += usize::from(asked);
        self.arrived.send_replace(log.requests.len());
        number
    }

    fn send(&self, reply: Reply, request: &RecordedRequest, number: usize, hang_up: HangUp) -> Response<Body> {
        let (content_type, parts) = match reply.content {
            Content::Body(body) => (None, vec![body]),
            Content::Answer(answer) => {
                let context = self.context(request, number, &answer);
                if request.wants_stream() {
                    (Some("text/event-stream; charset=utf-8"), answer.events(&context))
                } else {
                    (Some("application/json"), vec![answer.completion(&context).to_string().into()])
                }
            }
        };
        let has = |name: header::HeaderName| reply.headers.iter().any(|(other, _)| name == other.as_str());
        let mut response = Response::builder().status(reply.status);
        for (name, value) in &reply.headers {
            response = response.header(name, value);
        }
        if let Some(content_type) = content_type.filter(|_| !has(header::CONTENT_TYPE)) {
            response = response.header(header::CONTENT_TYPE, content_type);
        }
        let framed = has(header::CONTENT_LENGTH) || has(header::TRANSFER_ENCODING);
        if parts.len() == 1 && reply.delivery.end == End::Close && !framed {
            response = response.header(header::CONTENT_LENGTH, parts.iter().map(Bytes::len).sum::<usize>());
        }
        match response.body(()) {
            Ok(response) => response.map(|()| reply.delivery.body(parts, hang_up)),
            Err(error) => {
                bare(StatusCode::INTERNAL_SERVER_ERROR, format!("the script's reply is no HTTP: {error}"), hang_up)
            }
        }
    }

    fn context(&self, request: &RecordedRequest, number: usize, answer: &Answer) -> Context {
        let json = request.parsed();
        let mut log = self.log();
        // A resumed session brings the ids of an earlier server along.
        let used = log.last_call.max(highest_call(json));
        log.last_call = used + answer.calls.len() as u64;
        Context {
            number,
            created: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            model: json["model"].as_str().unwrap_or("scripted").to_owned(),
            first_call: used + 1,
            prompt_bytes: request.body.len(),
            include_usage: json["stream_options"]["include_usage"] == true,
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("requests", &self.log().requests.len()).finish_non_exhaustive()
    }
}

/// The highest n of the ids `call_n` in the conversation, or 0.
fn highest_call(request: &Value) -> u64 {
    let number = |call: &Value| call["id"].as_str()?.strip_prefix("call_")?.parse::<u32>().ok();
    let calls = list(&request["messages"]).iter().flat_map(|message| list(&message["tool_calls"]));
    calls.filter_map(number).max().unwrap_or(0).into()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn refuse(status: u16, message: &str, code: Option<&str>) -> Reply {
    let error = json!({"message": message, "type": "invalid_request_error", "param": null, "code": code});
    Reply::error(status, json!({"error": error}))
}

fn bare(status: StatusCode, text: String, hang_up: HangUp) -> Response<Body> {
    let mut response = Response::new(Delivery::default().body(vec![text.into()], hang_up));
    *response.status_mut() = status;
    response
}

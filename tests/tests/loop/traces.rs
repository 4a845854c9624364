//! What an operator sees of a turn: spans and fields after OpenTelemetry's conventions for generative AI.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, Once},
};

use insomnia_tasks::{ToolError, ToolOutput, worker::WorkerSettings};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::{Value, json};
use tracing::{
    Event, Id, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Record},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
    util::SubscriberInitExt,
};

use crate::support::{pod, tool};

/// Every span in the order of their beginning, and every event.
#[derive(Clone, Default)]
struct Traces {
    spans: Arc<Mutex<Vec<Seen>>>,
    events: Arc<Mutex<Vec<Fields>>>,
}

struct Seen {
    id: Id,
    name: &'static str,
    parent: Option<&'static str>,
    fields: Fields,
}

#[derive(Clone, Debug, Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

thread_local! {
    /// Who watches this thread. One subscriber for all threads: with one for each, a place in the code that another thread
    /// reaches first can stay dumb for good.
    static WATCHED_BY: RefCell<Option<Traces>> = const { RefCell::new(None) };
}

struct ToWatcher;

impl ToWatcher {
    fn tell(then: impl FnOnce(&Traces)) {
        WATCHED_BY.with_borrow(|traces| {
            if let Some(traces) = traces {
                then(traces)
            }
        });
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for ToWatcher {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let parent = context.span(id).and_then(|span| span.parent()).map(|parent| parent.name());
        let name = attributes.metadata().name();
        Self::tell(|traces| traces.spans.lock().unwrap().push(Seen { id: id.clone(), name, parent, fields }));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        Self::tell(|traces| {
            let mut spans = traces.spans.lock().unwrap();
            // an id can be given again once its span is closed
            let of_id = spans.iter_mut().rfind(|span| span.id == *id);
            of_id.into_iter().for_each(|span| values.record(&mut span.fields));
        });
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        Self::tell(|traces| traces.events.lock().unwrap().push(fields));
    }
}

/// Ends the watch of this thread.
struct Watch;

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHED_BY.set(None);
    }
}

impl Traces {
    /// What this thread does from now on, until the watch is dropped.
    fn begin() -> (Self, Watch) {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| tracing_subscriber::registry().with(ToWatcher).init());
        let traces = Self::default();
        WATCHED_BY.set(Some(traces.clone()));
        (traces, Watch)
    }

    /// Name and parent of each of this crate's spans.
    fn tree(&self) -> Vec<(&'static str, Option<&'static str>)> {
        let ours = ["invoke_agent", "chat", "execute_tool"];
        let spans = self.spans.lock().unwrap();
        spans.iter().filter(|span| ours.contains(&span.name)).map(|span| (span.name, span.parent)).collect()
    }

    /// The fields of the span of this name, by its place among them.
    fn fields(&self, name: &str, place: usize) -> BTreeMap<&'static str, String> {
        let spans = self.spans.lock().unwrap();
        spans.iter().filter(|span| span.name == name).nth(place).unwrap().fields.0.clone()
    }

    fn everything(&self) -> String {
        let spans = self.spans.lock().unwrap();
        let events = self.events.lock().unwrap();
        spans.iter().map(|span| &span.fields).chain(events.iter()).map(|fields| format!("{fields:?}\n")).collect()
    }
}

fn secret_turn() -> Vec<Reply> {
    vec![
        Reply::calls([("Look", json!({"where": "SECRET-ARGUMENT"}))]).usage(11, 2),
        Reply::text("SECRET-ANSWER").usage(30, 4),
    ]
}

#[tokio::test]
async fn a_turn_is_an_agent_its_requests_and_its_tools() {
    for stream in [true, false] {
        let (traces, _guard) = Traces::begin();
        let server = ScriptedServer::start(secret_turn()).await.unwrap();
        let look = tool("Look", |_| async { Ok(ToolOutput::new("SECRET-RESULT")) });
        let pod = pod(&server, stream).tools(look).build().await.unwrap();
        pod.run("SECRET-PROMPT").await.unwrap();

        let agent = Some("invoke_agent");
        assert_eq!(traces.tree(), [("invoke_agent", None), ("chat", agent), ("execute_tool", agent), ("chat", agent)]);
        let turn = traces.fields("invoke_agent", 0);
        assert_eq!(turn["gen_ai.operation.name"], "invoke_agent");
        assert_eq!((&*turn["gen_ai.usage.input_tokens"], &*turn["gen_ai.usage.output_tokens"]), ("41", "6"));
        let chat = traces.fields("chat", 0);
        assert_eq!(chat["otel.name"], format!("chat {}", chat["gen_ai.request.model"]));
        assert_eq!((&*chat["gen_ai.operation.name"], &*chat["otel.kind"]), ("chat", "client"));
        assert_eq!((&*chat["gen_ai.usage.input_tokens"], &*chat["gen_ai.usage.output_tokens"]), ("11", "2"));
        assert_eq!(chat["gen_ai.response.finish_reasons"], r#"["tool_calls"]"#);
        assert_eq!(chat["server.address"], "127.0.0.1");
        assert!(server.base_url().contains(&chat["server.port"]));
        assert!(!chat.contains_key("error.type"));
        let called = traces.fields("execute_tool", 0);
        assert_eq!((&*called["gen_ai.tool.name"], &*called["otel.name"]), ("Look", "execute_tool Look"));
        assert_eq!(called["gen_ai.tool.type"], "function");
        assert!(!traces.everything().contains("SECRET"), "{}", traces.everything());
    }
}

#[tokio::test]
async fn contents_come_only_on_request() {
    let (traces, _guard) = Traces::begin();
    let server = ScriptedServer::start(secret_turn()).await.unwrap();
    let look = tool("Look", |_| async { Ok(ToolOutput::new("SECRET-RESULT")) });
    let mut settings = WorkerSettings::default();
    settings.trace_contents = true;
    settings.conversation = Some("c-7".to_owned());
    let pod = pod(&server, true).settings(settings).tools(look).build().await.unwrap();
    pod.run("SECRET-PROMPT").await.unwrap();

    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let turn = traces.fields("invoke_agent", 0);
    assert_eq!(turn["gen_ai.conversation.id"], "c-7");
    assert_eq!(
        json(&turn["gen_ai.input.messages"]),
        json!([{"role": "user", "parts": [{"type": "text", "content": "SECRET-PROMPT"}]}])
    );
    let text = json!({"type": "text", "content": "SECRET-ANSWER"});
    assert_eq!(
        json(&traces.fields("chat", 1)["gen_ai.output.messages"]),
        json!([{"role": "assistant", "parts": [text], "finish_reason": "stop"}])
    );
    let called = traces.fields("execute_tool", 0);
    assert_eq!(called["gen_ai.tool.call.arguments"], r#"{"where":"SECRET-ARGUMENT"}"#);
    assert_eq!(called["gen_ai.tool.call.result"], "SECRET-RESULT");
}

#[tokio::test]
async fn failures_and_decisions_are_seen() {
    let (traces, _guard) = Traces::begin();
    let refusal = Reply::error(401, json!({"error": {"message": "no such key", "code": "invalid_api_key"}}));
    let broken = Reply::calls([("Break", json!({}))]);
    let server = ScriptedServer::start(vec![broken, refusal]).await.unwrap();
    let breaks = tool("Break", |_| async { Err::<ToolOutput, _>(ToolError::new("broken")) });
    let pod = pod(&server, false).tools(breaks).build().await.unwrap();
    pod.run("go").await.unwrap_err();

    let called = traces.fields("execute_tool", 0);
    assert_eq!((&*called["otel.status_code"], &*called["error.type"]), ("ERROR", "ToolError"));
    let chat = traces.fields("chat", 1);
    assert_eq!((&*chat["error.type"], &*chat["http.response.status_code"]), ("Auth", "401"));
    assert_eq!(traces.fields("invoke_agent", 0)["error.type"], "Auth");
    let decisions = traces.everything().matches("no reminder: no active task").count();
    assert_eq!(decisions, 2, "{}", traces.everything());
}

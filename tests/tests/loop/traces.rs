//! What an operator sees of a turn: spans and fields after OpenTelemetry's conventions for generative AI.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, Once},
};

use insomnia_tasks::{
    ToolError, ToolOutput,
    reminder::Cadence,
    session::Session,
    worker::{AutoCompaction, Compaction, WorkerSettings},
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::{Value, json};
use tracing::{
    Event, Id, Level, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Record},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
    util::SubscriberInitExt,
};

use crate::support::{folder, pod, tool};

/// Every span in the order of their beginning, and every event.
#[derive(Clone, Default)]
struct Traces {
    spans: Arc<Mutex<Vec<Seen>>>,
    events: Arc<Mutex<Vec<Told>>>,
}

/// An event: how loud, in which span, and what it says.
struct Told {
    level: Level,
    within: Option<&'static str>,
    fields: Fields,
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

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let within = context.event_span(event).map(|span| span.name());
        let told = Told { level: *event.metadata().level(), within, fields };
        Self::tell(|traces| traces.events.lock().unwrap().push(told));
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

    /// Level, span and fields of the events that have this field.
    fn events(&self, field: &str) -> Vec<(Level, Option<&'static str>, BTreeMap<&'static str, String>)> {
        let events = self.events.lock().unwrap();
        let named = events.iter().filter(|event| event.fields.0.contains_key(field));
        named.map(|event| (event.level, event.within, event.fields.0.clone())).collect()
    }

    fn everything(&self) -> String {
        let spans = self.spans.lock().unwrap();
        let events = self.events.lock().unwrap();
        spans
            .iter()
            .map(|span| &span.fields)
            .chain(events.iter().map(|event| &event.fields))
            .map(|fields| format!("{fields:?}\n"))
            .collect()
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
        assert_eq!(turn["gen_ai.response.finish_reasons"], r#"["stop"]"#);
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
        assert!(called.contains_key("gen_ai.tool.description"));
        assert_eq!(chat["gen_ai.provider.name"], "openai");
        // told if and only if it is so
        assert_eq!(chat.get("gen_ai.request.stream").map(String::as_str), stream.then_some("true"));
        assert!(!chat["gen_ai.response.id"].is_empty() && !chat["gen_ai.response.model"].is_empty());
        assert_eq!(chat.contains_key("gen_ai.response.time_to_first_chunk"), stream);
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
    let pod = pod(&server, true).instructions("SECRET-RULES").settings(settings).tools(look).build().await.unwrap();
    pod.run("SECRET-PROMPT").await.unwrap();

    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let turn = traces.fields("invoke_agent", 0);
    assert_eq!(turn["gen_ai.conversation.id"], "c-7");
    assert_eq!(
        json(&turn["gen_ai.input.messages"]),
        json!([{"role": "user", "parts": [{"type": "text", "content": "SECRET-PROMPT"}]}])
    );
    let rules = json!([{"type": "text", "content": "SECRET-RULES"}]);
    assert_eq!(json(&turn["gen_ai.system_instructions"]), rules);
    // where they are a message of the request, they are told as one
    assert!(!traces.fields("chat", 0).contains_key("gen_ai.system_instructions"));
    let rules = json!({"role": "system", "parts": rules});
    let prompt = json!({"role": "user", "parts": [{"type": "text", "content": "SECRET-PROMPT"}]});
    let call = json!({"type": "tool_call", "id": "call_1", "name": "Look", "arguments": {"where": "SECRET-ARGUMENT"}});
    let result = json!({"type": "tool_call_response", "id": "call_1", "response": "SECRET-RESULT"});
    assert_eq!(
        json(&traces.fields("chat", 1)["gen_ai.input.messages"]),
        json!([rules, prompt, {"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [result]}])
    );
    assert_eq!(turn["gen_ai.output.messages"], traces.fields("chat", 1)["gen_ai.output.messages"]);
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
async fn a_session_is_one_conversation_across_resumes() {
    let (traces, _guard) = Traces::begin();
    let server = ScriptedServer::start(vec![Reply::text("one"), Reply::text("two")]).await.unwrap();
    let folder = folder();
    for prompt in ["a", "b"] {
        let pod = pod(&server, false).session(folder.path()).build().await.unwrap();
        pod.run(prompt).await.unwrap();
        pod.close().await.unwrap();
    }
    let session = Session::read(folder.path()).unwrap();
    for (name, place) in [("invoke_agent", 0), ("chat", 0), ("invoke_agent", 1), ("chat", 1)] {
        assert_eq!(traces.fields(name, place)["gen_ai.conversation.id"], session.id(), "{name} {place}");
    }
}

#[tokio::test]
async fn failures_and_decisions_are_seen() {
    for contents in [false, true] {
        let (traces, _guard) = Traces::begin();
        let refusal = Reply::error(401, json!({"error": {"message": "SECRET-KEY", "code": "invalid_api_key"}}));
        let broken = Reply::calls([("Break", json!({}))]);
        let server = ScriptedServer::start(vec![broken, refusal]).await.unwrap();
        let breaks = tool("Break", |_| async { Err::<ToolOutput, _>(ToolError::new("SECRET-BREAK")) });
        let mut settings = WorkerSettings::default();
        (settings.stream, settings.trace_contents) = (false, contents);
        pod(&server, false).settings(settings).tools(breaks).build().await.unwrap().run("go").await.unwrap_err();

        let called = traces.fields("execute_tool", 0);
        assert_eq!((&*called["otel.status_code"], &*called["error.type"]), ("ERROR", "ToolError"));
        assert!(!called.contains_key("gen_ai.tool.call.result"), "only of what succeeded");
        let chat = traces.fields("chat", 1);
        assert_eq!((&*chat["error.type"], &*chat["http.response.status_code"]), ("Auth", "401"));
        let turn = traces.fields("invoke_agent", 0);
        assert_eq!(turn["error.type"], "Auth");
        // what a message says may be anything
        let told = |fields: &BTreeMap<_, String>, part: &str| {
            fields.get("otel.status_description").is_some_and(|message| message.contains(part))
        };
        let messages = [told(&called, "SECRET-BREAK"), told(&chat, "SECRET-KEY"), told(&turn, "SECRET-KEY")];
        assert_eq!(messages, [contents; 3]);
        assert_eq!(traces.everything().contains("SECRET"), contents, "{}", traces.everything());
        let decisions = traces.everything().matches("no reminder: no active task").count();
        assert_eq!(decisions, 2, "{}", traces.everything());
    }
}

#[tokio::test]
async fn parameters_the_agents_name_and_all_counts_are_told() {
    let (traces, _guard) = Traces::begin();
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3}});
    let message = json!({"role": "assistant", "content": "ok"});
    let reply = json!({"id": "r-1", "model": "m-2026", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage});
    let server = ScriptedServer::start(vec![Reply::raw(200, reply.to_string())]).await.unwrap();
    let mut settings = WorkerSettings::default();
    settings.stream = false;
    settings.agent = Some("clerk".to_owned());
    let asked = json!({"temperature": 0.5, "top_p": 1, "top_k": 40, "max_completion_tokens": 99, "seed": 7,
        "stop": "END", "response_format": {"type": "json_object"}});
    settings.parameters = asked.as_object().unwrap().clone();
    pod(&server, false).settings(settings).build().await.unwrap().run("go").await.unwrap();

    let turn = traces.fields("invoke_agent", 0);
    assert_eq!((&*turn["gen_ai.agent.name"], &*turn["otel.name"]), ("clerk", "invoke_agent clerk"));
    assert_eq!(turn["gen_ai.usage.cache_read.input_tokens"], "4");
    let chat = traces.fields("chat", 0);
    let expected = [
        ("gen_ai.request.temperature", "0.5"),
        ("gen_ai.request.top_p", "1.0"),
        ("gen_ai.request.top_k", "40.0"),
        ("gen_ai.output.type", "json"),
        ("gen_ai.request.max_tokens", "99"),
        ("gen_ai.request.seed", "7"),
        ("gen_ai.request.stop_sequences", r#"["END"]"#),
        ("gen_ai.response.id", "r-1"),
        ("gen_ai.response.model", "m-2026"),
        ("gen_ai.usage.cache_read.input_tokens", "4"),
        ("gen_ai.usage.reasoning.output_tokens", "3"),
    ];
    for (field, value) in expected {
        assert_eq!(chat.get(field).map(String::as_str), Some(value), "{field}");
    }
}

#[tokio::test]
async fn every_decision_about_a_reminder_is_an_event_of_its_turn() {
    let (traces, _guard) = Traces::begin();
    let create = Reply::calls([("TaskCreate", json!({"subject": "SECRET", "description": ""}))]);
    let idle = || Reply::calls([("TaskList", json!({}))]);
    let server = ScriptedServer::start(vec![create, idle(), idle(), Reply::text("done")]).await.unwrap();
    let cadence = Cadence::new(1, 2).unwrap();
    pod(&server, false).cadence(cadence).build().await.unwrap().run("go").await.unwrap();

    let told = traces.events("reminder.decision");
    let words: Vec<_> = told.iter().map(|(level, _, fields)| (*level, &*fields["reminder.decision"])).collect();
    let quiet = |word| (Level::DEBUG, word);
    let expected = [quiet("no_active_task"), quiet("used_recently"), (Level::INFO, "remind"), quiet("cooling_down")];
    assert_eq!(words, expected);
    assert!(told.iter().all(|(_, within, _)| *within == Some("invoke_agent")));
    assert_eq!(told[1].2["reminder.requests_ago"], "0");
    assert!(told[2].2["reminder.tokens"].parse::<u32>().unwrap() > 10);
    assert_eq!(told[3].2["reminder.requests_ago"], "1");
    assert!(!traces.everything().contains("SECRET"));
}

#[tokio::test]
async fn a_change_of_the_dialect_is_an_event() {
    let (traces, _guard) = Traces::begin();
    let said = "tool call ids must be alphanumeric strings with length 9";
    let refusal = Reply::error(400, json!({"error": {"message": said}}));
    let create = Reply::calls([("TaskCreate", json!({"subject": "one", "description": ""}))]);
    let server = ScriptedServer::start(vec![create, refusal, Reply::text("done")]).await.unwrap();
    pod(&server, false).build().await.unwrap().run("go").await.unwrap();

    let told = traces.events("refusal");
    assert_eq!((told.len(), told[0].0, &*told[0].2["refusal"]), (1, Level::INFO, "CallId"));
}

#[tokio::test]
async fn a_summary_belongs_to_its_turn() {
    let (traces, _guard) = Traces::begin();
    let script = vec![
        Reply::text("one").usage(10, 1),
        Reply::text("two").usage(900, 5),
        Reply::text("SECRET-SUMMARY").usage(600, 9),
    ];
    let server = ScriptedServer::start(script).await.unwrap();
    let when = AutoCompaction::for_window(1_000).how(Compaction::default().keep_turns(1));
    let pod = pod(&server, false).auto_compaction(when).build().await.unwrap();
    pod.run("a").await.unwrap();
    pod.run("b").await.unwrap();

    let agent = Some("invoke_agent");
    assert_eq!(traces.tree()[2..], [("invoke_agent", None), ("chat", agent), ("chat", agent)]);
    let turn = traces.fields("invoke_agent", 1);
    assert_eq!((&*turn["gen_ai.usage.input_tokens"], &*turn["gen_ai.usage.output_tokens"]), ("1500", "14"));
    let told = traces.events("replaced");
    assert_eq!((told.len(), told[0].0, told[0].1), (1, Level::INFO, agent));
    assert!(!traces.everything().contains("SECRET"));
}

//! A turn's traces as a collector receives them, over HTTP.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, where these are the failure

use std::{
    sync::Arc,
    thread::{self, JoinHandle},
};

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{Pod, ToolDefinition, ToolError, ToolOutput, ToolSet, reminder::Cadence, worker::WorkerSettings};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value as Any},
    trace::v1::{Span, span::SpanKind, status::StatusCode},
};
use prost::Message;
use serde_json::json;
use tiny_http::{Response, Server};
use tracing_subscriber::layer::SubscriberExt;

/// Keeps what it is sent until it is stopped.
struct Collector {
    server: Arc<Server>,
    received: JoinHandle<Vec<ExportTraceServiceRequest>>,
}

impl Collector {
    fn start() -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
        let listening = Arc::clone(&server);
        let received = thread::spawn(move || {
            let mut all = Vec::new();
            for mut request in listening.incoming_requests() {
                assert_eq!(request.url(), "/v1/traces");
                let mut body = Vec::new();
                request.as_reader().read_to_end(&mut body).unwrap();
                all.push(ExportTraceServiceRequest::decode(&*body).unwrap());
                request.respond(Response::empty(200)).unwrap();
            }
            all
        });
        Self { server, received }
    }

    fn endpoint(&self) -> String {
        format!("http://{}/v1/traces", self.server.server_addr())
    }

    fn stop(self) -> Vec<ExportTraceServiceRequest> {
        self.server.unblock();
        self.received.join().unwrap()
    }
}

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Any> {
    attributes.iter().find(|attribute| attribute.key == key)?.value.as_ref()?.value.as_ref()
}

fn text<'a>(span: &'a Span, key: &str) -> &'a str {
    match value(&span.attributes, key) {
        Some(Any::StringValue(text)) => text,
        other => panic!("{} has {key} = {other:?}", span.name),
    }
}

fn number(span: &Span, key: &str) -> i64 {
    match value(&span.attributes, key) {
        Some(Any::IntValue(number)) => *number,
        other => panic!("{} has {key} = {other:?}", span.name),
    }
}

#[tokio::test]
async fn a_turn_arrives_with_names_parents_and_attributes() {
    let collector = Collector::start();
    let provider = insomnia_tasks_otlp::provider(Some(&collector.endpoint())).unwrap();
    let subscriber = tracing_subscriber::registry().with(insomnia_tasks_otlp::layer(&provider));
    let watch = tracing::subscriber::set_default(subscriber);

    let create = ("TaskCreate", json!({"subject": "SECRET", "description": ""}));
    let script = vec![
        Reply::calls([create]).usage(11, 2),
        Reply::calls([("Break", json!({}))]).usage(20, 3),
        Reply::text("SECRET").usage(30, 4),
    ];
    let server = ScriptedServer::start(script).await.unwrap();
    let client = Client::with_config(OpenAIConfig::new().with_api_base(server.base_url()));
    let mut settings = WorkerSettings::default();
    settings.agent = Some("tester".to_owned());
    settings.parameters.insert("stop".to_owned(), json!(["END"]));
    let mut tools = ToolSet::new();
    let broken = ToolDefinition::new("Break", "Fails.", json!({"type": "object", "properties": {}})).unwrap();
    tools.add_fn(broken, |_| async { Err::<ToolOutput, _>(ToolError::new("broken")) }).unwrap();
    let cadence = Cadence::new(1, 1).unwrap();
    let pod = Pod::builder(&client, "m").settings(settings).tools(tools).cadence(cadence).build().await.unwrap();
    pod.run("SECRET").await.unwrap();
    drop(watch);
    provider.shutdown().unwrap();

    let requests = collector.stop();
    let resources: Vec<_> = requests.iter().flat_map(|request| &request.resource_spans).collect();
    let service = value(&resources[0].resource.as_ref().unwrap().attributes, "service.name");
    assert_eq!(service, Some(&Any::StringValue("insomnia-tasks".to_owned())));
    let mut spans: Vec<_> = resources.iter().flat_map(|of| &of.scope_spans).flat_map(|of| &of.spans).collect();
    spans.sort_by_key(|span| span.start_time_unix_nano);
    let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    let expected =
        ["invoke_agent tester", "chat m", "execute_tool TaskCreate", "chat m", "execute_tool Break", "chat m"];
    assert_eq!(names, expected);

    let (turn, below) = spans.split_first().unwrap();
    assert!(turn.parent_span_id.is_empty());
    assert!(below.iter().all(|span| span.parent_span_id == turn.span_id && span.trace_id == turn.trace_id));
    assert_eq!(turn.kind(), SpanKind::Internal);
    assert_eq!(text(turn, "gen_ai.operation.name"), "invoke_agent");
    assert_eq!(text(turn, "gen_ai.agent.name"), "tester");
    assert_eq!((number(turn, "gen_ai.usage.input_tokens"), number(turn, "gen_ai.usage.output_tokens")), (61, 9));

    let chat = below[0];
    assert_eq!(chat.kind(), SpanKind::Client);
    assert_eq!((text(chat, "gen_ai.operation.name"), text(chat, "gen_ai.request.model")), ("chat", "m"));
    assert_eq!((number(chat, "gen_ai.usage.input_tokens"), number(chat, "gen_ai.usage.output_tokens")), (11, 2));
    assert_eq!(text(chat, "server.address"), "127.0.0.1");
    assert!(number(chat, "server.port") > 0);
    assert_eq!(value(&chat.attributes, "gen_ai.request.stream"), Some(&Any::BoolValue(true)));
    for (key, word) in [("gen_ai.response.finish_reasons", "tool_calls"), ("gen_ai.request.stop_sequences", "END")] {
        let Some(Any::ArrayValue(list)) = value(&chat.attributes, key) else { panic!("{key} is no list") };
        assert_eq!(list.values[0].value, Some(Any::StringValue(word.to_owned())));
    }

    let (created, failed) = (below[1], below[3]);
    assert_eq!(text(created, "gen_ai.tool.name"), "TaskCreate");
    assert_ne!(created.status.as_ref().map(|status| status.code()), Some(StatusCode::Error));
    assert_eq!(failed.status.as_ref().map(|status| status.code()), Some(StatusCode::Error));
    assert_eq!(text(failed, "error.type"), "ToolError");

    let decisions: Vec<_> =
        turn.events.iter().filter_map(|event| value(&event.attributes, "reminder.decision")).collect();
    let expected = ["no_active_task", "used_recently", "remind"].map(|word| Any::StringValue(word.to_owned()));
    assert_eq!(decisions, expected.iter().collect::<Vec<_>>());
    assert!(!format!("{requests:?}").contains("SECRET"));
}

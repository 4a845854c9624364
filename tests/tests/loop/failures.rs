//! Model calls that fail in the middle of a turn: the error says what is wrong, the history stays whole, the next turn works.

use std::{net::TcpListener, sync::Mutex, time::Duration};

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{
    Pod,
    wire::{Dialect, ModelErrorKind},
    worker::{Event, RetryPolicy, TurnError, WorkerSettings},
};
use insomnia_tasks_examples::scripted::{End, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::support::{assert_conversation, client, http, pod, quiet, refusal, sent};

fn create() -> Reply {
    Reply::calls([("TaskCreate", json!({"subject": "Go on", "description": ""}))])
}

fn retrying() -> WorkerSettings {
    let mut settings = WorkerSettings::default();
    settings.retries = RetryPolicy::default();
    settings.retries.base = Duration::from_millis(1);
    settings
}

#[tokio::test]
async fn an_http_error_in_mid_turn_ends_it_and_the_next_turn_goes_on() {
    let limited = ModelErrorKind::RateLimited { retry_after: Some(Duration::ZERO) };
    for stream in [true, false] {
        for (status, kind, tries, says) in [
            (400, ModelErrorKind::InvalidRequest, 1, "the server refused the request (HTTP 400: no, 400)"),
            (401, ModelErrorKind::Auth, 1, "check OPENAI_API_KEY"),
            (404, ModelErrorKind::InvalidRequest, 1, "check the base URL"),
            (429, limited, 3, "retry later"),
            (500, ModelErrorKind::Server, 3, "the server failed (HTTP 500: no, 500)"),
        ] {
            let error = refusal(status, &format!("no, {status}")).header("retry-after", "0");
            let mut replies = vec![create()];
            replies.extend((0..tries).map(|_| error.clone()));
            replies.push(Reply::text("here again"));
            let server = ScriptedServer::start(replies).await.unwrap();
            let pod = pod(&server, stream).settings(retrying()).stream(stream).build().await.unwrap();
            let retries = Mutex::new(0);
            let listener = |event| *retries.lock().unwrap() += usize::from(matches!(event, Event::Retrying { .. }));
            let failed = pod.run_with("one", listener).await.unwrap_err();
            let error = failed.model().unwrap();
            assert_eq!((error.kind(), error.status()), (kind, Some(status)), "{error}");
            assert!(error.to_string().contains(says), "{error}");
            assert!(error.body().contains(&format!("no, {status}")));
            assert_eq!(*retries.lock().unwrap(), tries - 1);
            assert_eq!(server.requests().len(), 1 + tries);

            let history = pod.history();
            assert_eq!(history.len(), 3);
            assert_eq!(pod.run("two").await.unwrap().text, "here again");
            assert_eq!(pod.history()[..3], history);
            let requests = server.requests();
            assert_conversation(&requests);
            assert!(requests[1..=tries].iter().all(|request| request.body == requests[1].body));
        }
    }
}

#[tokio::test]
async fn a_retry_that_succeeds_is_one_request_to_the_reminder() {
    for stream in [true, false] {
        let overloaded = refusal(503, "overloaded").header("retry-after", "0");
        let server = ScriptedServer::start(vec![create(), overloaded, Reply::text("done")]).await.unwrap();
        let pod = pod(&server, stream).settings(retrying()).stream(stream).build().await.unwrap();
        assert_eq!(pod.run("go").await.unwrap().requests, 2);
        assert_eq!(pod.reminders().state().requests_since_last_task_management, 1);
        let requests = server.requests();
        assert_eq!(requests[1].body, requests[2].body);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_commits_nothing_of_its_answer() {
    let chunk = |delta: Value| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
    let call = json!({"index": 0, "id": "a", "function": {"name": "TaskCreate", "arguments": "{\"subject\":\"Ha"}});
    let text = chunk(json!({"role": "assistant", "content": "Half a"}));
    let calls = chunk(json!({"role": "assistant", "tool_calls": [call]}));
    for (body, partial) in [(text, Some("Half a")), (calls, None)] {
        let broken = Reply::raw(200, body).header("content-type", "text/event-stream").then(End::Truncate);
        let server = ScriptedServer::start(vec![broken, Reply::text("whole")]).await.unwrap();
        let pod = pod(&server, true).build().await.unwrap();
        let error = pod.run("one").await.unwrap_err();
        let error = error.model().unwrap();
        assert_eq!(error.kind(), ModelErrorKind::Interrupted, "{error}");
        assert_eq!(error.partial_text().filter(|text| !text.is_empty()), partial);
        assert_eq!((pod.history().len(), pod.tasks().list().len()), (1, 0));
        assert_eq!(pod.run("two").await.unwrap().text, "whole");
        assert_conversation(&server.requests());
    }
}

#[tokio::test]
async fn a_refused_connection_is_told_and_the_next_turn_works() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = OpenAIConfig::new().with_api_base(format!("http://127.0.0.1:{port}/v1")).with_api_key("key");
    let nobody = Client::build(http(), config);
    let folder = crate::support::folder();
    for stream in [true, false] {
        let session = folder.path().join(stream.to_string());
        let builder = Pod::builder(&nobody, "scripted").settings(quiet()).stream(stream).session(&session);
        let pod = builder.build().await.unwrap();
        let error = pod.run("one").await.unwrap_err();
        assert_eq!(error.model().unwrap().kind(), ModelErrorKind::Connect);
        assert!(error.to_string().contains("refused") && error.to_string().contains("check the base URL"), "{error}");
        drop(pod);
        let server = ScriptedServer::start(Reply::text("hello")).await.unwrap();
        let pod = Pod::builder(&client(&server), "scripted").session(&session).build().await.unwrap();
        assert_eq!(pod.run("two").await.unwrap().text, "hello");
        assert_eq!(sent(&server.requests()[0]).message(0)["content"], "one");
    }
}

#[tokio::test]
async fn the_request_limit_ends_the_turn_and_the_next_prompt_goes_on() {
    for (stream, preset, roles) in [
        (true, "portable", "uatatau"),
        (false, "openai", "uatatu"),
        (true, "mistral", "uatatau"),
        (false, "mistral", "uatatau"),
        (false, "anthropic", "uatatu"),
    ] {
        let server = ScriptedServer::start(vec![create(), create(), Reply::text("at last")]).await.unwrap();
        let mut settings = quiet();
        settings.dialect = Dialect::preset(preset);
        let pod = pod(&server, stream).settings(settings).stream(stream).max_requests(2).build().await.unwrap();
        let error = pod.run("one").await.unwrap_err();
        assert!(matches!(error, TurnError::RequestLimit { limit: 2 }), "{error}");
        assert_eq!(server.requests().len(), 2);
        assert_eq!(pod.tasks().list().len(), 2);
        assert_eq!(pod.run("two").await.unwrap().text, "at last");
        let requests = server.requests();
        assert_conversation(&requests);
        let third = sent(&requests[2]);
        assert_eq!(third.roles(), roles, "{preset}");
        assert_eq!(third.last()["content"], "two");
        if preset == "mistral" {
            let ids: Vec<Value> =
                (0..third.messages.len()).map(|at| third.message(at)["tool_call_id"].clone()).collect();
            assert!(ids.iter().filter_map(Value::as_str).all(|id| id.len() == 9), "{ids:?}");
        }
    }
}

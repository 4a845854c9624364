//! When a call is tried again, when not, and what is told of it.

use std::time::{Duration, Instant};

use insomnia_tasks::{
    wire::{ModelError, ModelErrorKind},
    worker::{Event, RetryPolicy, Turn, TurnError, Worker, WorkerSettings},
};
use insomnia_tasks_examples::scripted::{End, Reply, ScriptedModel, ScriptedServer};
use serde_json::json;

use super::{Heard, client, client_at};

/// What came of a prompt to this model, and how many requests it took.
async fn run(model: impl ScriptedModel, retries: RetryPolicy) -> (Result<Turn, TurnError>, Heard, Vec<String>) {
    let server = ScriptedServer::start(model).await.unwrap();
    let heard = Heard::default();
    let outcome = worker(&server.base_url(), retries).run("hi", &heard.listener()).await;
    let bodies = server.requests().iter().map(|request| request.text()).collect();
    (outcome, heard, bodies)
}

fn worker(base_url: &str, retries: RetryPolicy) -> Worker {
    let mut settings = WorkerSettings::default();
    settings.retries = retries;
    Worker::builder(&client_at(base_url), "m").settings(settings).build().unwrap()
}

fn quick() -> RetryPolicy {
    let mut policy = RetryPolicy::default();
    policy.base = Duration::from_millis(2);
    policy
}

fn busy() -> Reply {
    Reply::error(503, json!({"error": {"message": "overloaded"}}))
}

fn model_error(outcome: Result<Turn, TurnError>) -> ModelError {
    match outcome {
        Err(TurnError::Model(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn waits(heard: &Heard) -> Vec<(Duration, bool)> {
    let wait = |event: &Event| match event {
        Event::Retrying { wait, void, .. } => Some((*wait, *void)),
        _ => None,
    };
    heard.events().iter().filter_map(wait).collect()
}

#[tokio::test]
async fn a_failing_server_is_asked_again_with_the_same_bytes() {
    let (outcome, heard, bodies) = run(vec![busy(), busy(), Reply::text("ok")], quick()).await;
    assert_eq!(outcome.unwrap().text, "ok");
    let [(first, false), (second, false)] = waits(&heard)[..] else { panic!("{:?}", heard.events()) };
    let ms = Duration::from_millis;
    assert!(first >= ms(1) && first <= ms(2) && second >= ms(2) && second <= ms(4), "{first:?} {second:?}");
    assert!(bodies.len() == 3 && bodies.iter().all(|body| *body == bodies[0]));
    let (outcome, _, bodies) = run(busy(), quick()).await;
    assert_eq!((model_error(outcome).kind(), bodies.len()), (ModelErrorKind::Server, 3));
}

#[tokio::test]
async fn the_servers_wait_is_obeyed_in_every_form() {
    let date = "Wed, 21 Oct 2026 07:28:00 GMT";
    for (headers, wait) in [
        (vec![("retry-after", "0")], 0),
        (vec![("retry-after", "0.03")], 30),
        (vec![("retry-after", "9"), ("retry-after-ms", "20")], 20),
        (vec![("retry-after", date), ("date", date)], 0),
    ] {
        let limited =
            headers.iter().fold(Reply::error(429, json!({})), |reply, (name, value)| reply.header(*name, *value));
        let (outcome, heard, _) = run(vec![limited, Reply::text("ok")], quick()).await;
        assert_eq!(outcome.unwrap().text, "ok");
        assert_eq!(waits(&heard), [(Duration::from_millis(wait), false)], "{headers:?}");
    }
}

#[tokio::test]
async fn a_long_wait_is_an_error_that_tells_it() {
    let (date, later) = ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:30:00 GMT");
    for (headers, told) in [
        (vec![("retry-after", "61")], "61.0 s"),
        (vec![("retry-after", "58000.5")], "58000.5 s"),
        (vec![("retry-after", later), ("date", date)], "120.0 s"),
    ] {
        let limited =
            headers.iter().fold(Reply::error(429, json!({})), |reply, (name, value)| reply.header(*name, *value));
        let begin = Instant::now();
        let (outcome, heard, bodies) = run(limited, quick()).await;
        let error = model_error(outcome);
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!((bodies.len(), waits(&heard).len()), (1, 0));
        assert!(begin.elapsed() < Duration::from_secs(20), "it did not sleep");
    }
}

#[tokio::test]
async fn a_refused_request_is_sent_once() {
    for status in [400, 401, 402, 403, 404, 405, 413, 422, 501] {
        let (outcome, heard, bodies) = run(Reply::error(status, json!({"error": {"message": "no"}})), quick()).await;
        let error = model_error(outcome);
        assert!(!error.is_retryable(), "{error}");
        assert_eq!((bodies.len(), waits(&heard).len(), error.status()), (1, 0, Some(status)));
    }
}

/// The start of an answer, then the end of the connection.
fn cut_after(delta: &str) -> Reply {
    let body = format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
    Reply::raw(200, body).header("content-type", "text/event-stream").then(End::Truncate)
}

#[tokio::test]
async fn an_answer_that_was_shown_in_part_is_asked_for_again_only_if_allowed() {
    let script = || vec![cut_after(r#"{"content":"Hel"}"#), Reply::text("Hello")];
    let (outcome, heard, bodies) = run(script(), quick()).await;
    let error = model_error(outcome);
    assert_eq!((error.kind(), error.partial_text()), (ModelErrorKind::Interrupted, Some("Hel")));
    assert_eq!((bodies.len(), heard.text().as_str()), (1, "Hel"));

    let mut allowed = quick();
    allowed.after_partial = true;
    let (outcome, heard, _) = run(script(), allowed).await;
    assert_eq!(outcome.unwrap().text, "Hello");
    let [(_, void)] = waits(&heard)[..] else { panic!("{:?}", heard.events()) };
    assert!(void, "the listener is told that `Hel` is void");
    assert_eq!(heard.text(), "HelHello");
}

#[tokio::test]
async fn reasoning_is_no_part_of_the_answer() {
    let (outcome, heard, _) = run(vec![cut_after(r#"{"reasoning_content":"Hm"}"#), Reply::text("ok")], quick()).await;
    assert_eq!(outcome.unwrap().text, "ok");
    let [(_, void)] = waits(&heard)[..] else { panic!("{:?}", heard.events()) };
    assert!(void);
}

#[tokio::test]
async fn cancelling_while_a_retry_waits_returns_at_once() {
    let limited = Reply::error(429, json!({})).header("retry-after", "50");
    let server = ScriptedServer::start(vec![limited, Reply::text("ok")]).await.unwrap();
    let mut worker = worker(&server.base_url(), RetryPolicy::default());
    let (waiting, mut waits) = tokio::sync::mpsc::unbounded_channel();
    let begin = Instant::now();
    let listener = |event: Event| {
        if let Event::Retrying { wait, .. } = event {
            waiting.send(wait).unwrap();
        }
    };
    tokio::select! {
        outcome = worker.run("hi", &listener) => panic!("{outcome:?}"),
        wait = waits.recv() => assert_eq!(wait, Some(Duration::from_secs(50))),
    }
    assert!(begin.elapsed() < Duration::from_secs(20));
    assert_eq!(worker.run("again", &|_| {}).await.unwrap().text, "ok");
}

#[tokio::test]
async fn no_connection_is_told_with_its_reason() {
    let server = ScriptedServer::start(Reply::text("ok")).await.unwrap();
    let plain = server.base_url().replace("http://", "https://");
    let error = model_error(worker(&plain, RetryPolicy::never()).run("hi", &|_| {}).await);
    assert_eq!(error.kind(), ModelErrorKind::Connect, "{error}");
    assert!(error.to_string().contains("TLS") && error.to_string().contains("`http://`"), "{error}");

    let address = server.base_url();
    drop(server);
    let heard = Heard::default();
    let error = model_error(worker(&address, quick()).run("hi", &heard.listener()).await);
    assert_eq!((error.kind(), waits(&heard).len()), (ModelErrorKind::Connect, 2));
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn the_key_is_in_no_error() {
    let body = json!({"error": {"message": "Incorrect API key provided: sk-test."}});
    let server = ScriptedServer::start(Reply::error(401, body)).await.unwrap();
    let mut worker = Worker::builder(&client(&server), "m").build().unwrap();
    let error = model_error(worker.run("hi", &|_| {}).await);
    assert_eq!(error.kind(), ModelErrorKind::Auth);
    assert!(!format!("{error} {error:?}").contains("sk-test"), "{error:?}");
}

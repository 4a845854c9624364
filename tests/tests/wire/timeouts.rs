//! Every limit on waiting ends a call by itself.

use std::time::{Duration, Instant};

use insomnia_tasks::{
    wire::{ModelError, ModelErrorKind},
    worker::{RetryPolicy, Timeouts, Worker, WorkerSettings},
};
use insomnia_tasks_examples::scripted::{End, Gate, Reply, ScriptedServer};
use serde_json::json;

use super::{client, client_at};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Long enough for any machine, shorter than any default limit.
const SOON: Duration = Duration::from_secs(8);

fn worker(base_url: &str, stream: bool, limit: impl FnOnce(&mut Timeouts)) -> Worker {
    let mut settings = WorkerSettings::default();
    settings.stream = stream;
    settings.retries = RetryPolicy::never();
    limit(&mut settings.timeouts);
    Worker::builder(&client_at(base_url), "m").settings(settings).build().unwrap()
}

async fn fails(worker: &mut Worker) -> ModelError {
    let begin = Instant::now();
    let error = worker.run("hi", &|_| {}).await.unwrap_err();
    assert!(begin.elapsed() < SOON, "{error}");
    match error {
        insomnia_tasks::worker::TurnError::Model(error) => error,
        other => panic!("{other}"),
    }
}

fn event(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"delta": {"content": text}}]}))
}

fn stream(body: String) -> Reply {
    Reply::raw(200, body).header("content-type", "text/event-stream").then(End::Hang)
}

#[tokio::test]
async fn no_connection() {
    // an address that nobody answers at; where the network says so at once, that is an error of the same kind
    let error = fails(&mut worker("http://192.0.2.1:9/v1", true, |limits| limits.connect = MS(80))).await;
    assert_eq!(error.kind(), ModelErrorKind::Connect, "{error}");
}

#[tokio::test]
async fn no_first_byte() {
    let gate = Gate::new();
    let server = ScriptedServer::start(Reply::text("late").hold(&gate)).await.unwrap();
    for stream in [false, true] {
        let error = fails(&mut worker(&server.base_url(), stream, |limits| limits.first_byte = MS(80))).await;
        assert_eq!((error.kind(), error.message()), (ModelErrorKind::Timeout, "no reply within 80ms"));
    }
    server.wait_for_hang_ups(2).await;
}

#[tokio::test]
async fn keep_alive_comments_do_not_feed_the_idle_limit() {
    for alive in [": keep-alive\n\n", "data: \n\n", "data: : ping\n\n"] {
        let body = event("The answer") + &alive.repeat(10_000);
        let (first, size) = (event("The answer").len(), alive.len());
        let cuts = (0..10_000).map(|n| first + n * size).collect();
        let server = ScriptedServer::start(stream(body).split_at(cuts).pace(MS(5))).await.unwrap();
        let error = fails(&mut worker(&server.base_url(), true, |limits| limits.idle = MS(400))).await;
        assert_eq!((error.kind(), error.partial_text()), (ModelErrorKind::Timeout, Some("The answer")), "{error}");
        assert_eq!(error.message(), "no data within 400ms");
        server.wait_for_hang_ups(1).await;
    }
}

#[tokio::test]
async fn data_feeds_the_idle_limit() {
    let piece = event("x");
    let body = piece.repeat(60) + "data: [DONE]\n\n";
    let cuts = (1..=60).map(|n| n * piece.len()).collect();
    let server = ScriptedServer::start(stream(body).split_at(cuts).pace(MS(20))).await.unwrap();
    let begin = Instant::now();
    let turn = worker(&server.base_url(), true, |limits| limits.idle = MS(1_000)).run("hi", &|_| {}).await.unwrap();
    assert_eq!(turn.text, "x".repeat(60));
    assert!(begin.elapsed() > MS(1_000), "longer in all than the limit");
}

#[tokio::test]
async fn a_body_that_stops_in_the_middle() {
    let server = ScriptedServer::start(Reply::raw(200, "{\"choices\":").then(End::Hang)).await.unwrap();
    let error = fails(&mut worker(&server.base_url(), false, |limits| limits.idle = MS(400))).await;
    assert_eq!((error.kind(), error.status(), error.body()), (ModelErrorKind::Timeout, Some(200), "{\"choices\":"));
    let server = ScriptedServer::start(Reply::raw(200, "{\"choices\":").then(End::Truncate)).await.unwrap();
    let error = fails(&mut worker(&server.base_url(), false, |_| {})).await;
    assert_eq!((error.kind(), error.body()), (ModelErrorKind::Interrupted, "{\"choices\":"));
    // the start of an error says enough
    let refusal = Reply::raw(400, "{\"error\":{\"message\":\"x\"}}").then(End::Hang);
    let server = ScriptedServer::start(refusal).await.unwrap();
    let error = fails(&mut worker(&server.base_url(), false, |limits| limits.idle = MS(400))).await;
    assert_eq!((error.kind(), error.status()), (ModelErrorKind::InvalidRequest, Some(400)));
}

#[tokio::test]
async fn a_whole_call_that_takes_too_long() {
    let piece = event("x");
    let cuts = (1..10_000).map(|n| n * piece.len()).collect();
    let server = ScriptedServer::start(stream(piece.repeat(10_000)).split_at(cuts).pace(MS(5))).await.unwrap();
    let error = fails(&mut worker(&server.base_url(), true, |limits| limits.total = Some(MS(120)))).await;
    assert_eq!((error.kind(), error.message()), (ModelErrorKind::Timeout, "no whole answer within 120ms"));
    server.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn a_timeout_is_tried_again() {
    let gate = Gate::new();
    let server = ScriptedServer::start(vec![Reply::text("late").hold(&gate), Reply::text("ok")]).await.unwrap();
    let mut settings = WorkerSettings::default();
    settings.timeouts.first_byte = MS(1_000);
    settings.retries.base = MS(1);
    let mut worker = Worker::builder(&client(&server), "m").settings(settings).build().unwrap();
    assert_eq!(worker.run("hi", &|_| {}).await.unwrap().text, "ok");
}

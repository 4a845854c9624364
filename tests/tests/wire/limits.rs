//! Replies without end: an error, a bounded memory, and the server is hung up on.

use std::time::Duration;

use insomnia_tasks::{
    wire::{ModelError, ModelErrorKind},
    worker::{RetryPolicy, Turn, TurnError, Worker, WorkerSettings},
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use tokio::time::timeout;

use super::client;

const MB: usize = 1024 * 1024;

async fn outcome(body: String, status: u16, stream: bool) -> Result<Turn, TurnError> {
    let length = body.len();
    let server = ScriptedServer::start(Reply::raw(status, body).chunked(256 * 1024)).await.unwrap();
    let mut settings = WorkerSettings::default();
    settings.stream = stream;
    settings.retries = RetryPolicy::never();
    let mut worker = Worker::builder(&client(&server), "m").settings(settings).build().unwrap();
    let outcome = worker.run("hi", &|_| {}).await;
    if length > 32 * MB {
        // more is left than the sockets can hold
        let hang_up = timeout(Duration::from_secs(60), server.wait_for_hang_ups(1));
        hang_up.await.expect("the client reads on though it has what there is to have");
    }
    outcome
}

async fn error_of(body: String, status: u16, stream: bool) -> ModelError {
    match outcome(body, status, stream).await {
        Err(TurnError::Model(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_answer_with_no_end_behind_it() {
    let answer = r#"data: {"choices":[{"delta":{"content":"here"},"finish_reason":"stop"}]}"#;
    let body = format!("{answer}\n\ndata: [DONE]\n\n{}", ": still there\n\n".repeat(4 * MB));
    assert_eq!(outcome(body, 200, true).await.unwrap().text, "here");
}

#[tokio::test]
async fn a_line_without_end() {
    let error = error_of("data: ".to_owned() + &"x".repeat(60 * MB), 200, true).await;
    assert_eq!(error.kind(), ModelErrorKind::Malformed);
    assert!(error.message().contains("limit of 16777216 bytes"), "{error}");
    assert!(error.body().len() <= 16 * 1024);
}

#[tokio::test]
async fn arguments_of_a_hundred_megabytes() {
    let call = |arguments: &str| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"id\":\"a\",\"function\":{{\"name\":\"x\",\"arguments\":\"{arguments}\"}}}}]}}}}]}}\n\n"
        )
    };
    let in_one = call(&"x".repeat(100 * MB));
    let in_pieces = call(&"x".repeat(MB)).repeat(100);
    for body in [in_one, in_pieces] {
        let error = error_of(body, 200, true).await;
        assert_eq!(error.kind(), ModelErrorKind::Malformed);
        assert!(error.message().contains("limit of 16777216 bytes"), "{error}");
    }
}

#[tokio::test]
async fn a_body_without_end() {
    let error = error_of("x".repeat(60 * MB), 200, false).await;
    assert_eq!(error.kind(), ModelErrorKind::Malformed);
    assert!(error.message().contains("limit of 16777216 bytes"), "{error}");
    let error = error_of("x".repeat(60 * MB), 500, true).await;
    assert_eq!((error.kind(), error.status()), (ModelErrorKind::Server, Some(500)));
    assert!(error.body().len() <= 16 * 1024 && error.to_string().len() < 1_000);
}

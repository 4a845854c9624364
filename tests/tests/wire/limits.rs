//! Replies without end: an error, a bounded memory, and the server is hung up on.

use insomnia_tasks::{
    wire::{ModelError, ModelErrorKind},
    worker::{RetryPolicy, TurnError, Worker, WorkerSettings},
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};

use super::client;

const MB: usize = 1024 * 1024;

async fn error_of(body: String, status: u16, stream: bool) -> ModelError {
    let length = body.len();
    let server = ScriptedServer::start(Reply::raw(status, body).chunked(256 * 1024)).await.unwrap();
    let mut settings = WorkerSettings::default();
    settings.stream = stream;
    settings.retries = RetryPolicy::never();
    let mut worker = Worker::builder(&client(&server), "m").settings(settings).build().unwrap();
    let error = worker.run("hi", &|_| {}).await.unwrap_err();
    if length > 32 * MB {
        // more is left than the sockets can hold
        server.wait_for_hang_ups(1).await;
    }
    match error {
        TurnError::Model(error) => error,
        other => panic!("{other}"),
    }
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

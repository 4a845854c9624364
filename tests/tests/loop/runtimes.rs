//! Sessions without an HTTP client of their own share connections, but never with another runtime.

use std::time::Duration;

use insomnia_tasks::Pod;
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use tokio::runtime::{Builder, Runtime};

use crate::support::{client, quiet};

fn here(_: &RecordedRequest, _: usize) -> Reply {
    Reply::text("here")
}

/// A session that has had its first turn.
async fn pod(server: &ScriptedServer) -> Pod {
    let mut settings = quiet();
    // what waits for a runtime that stands still would wait for ever
    settings.timeouts.first_byte = Duration::from_secs(10);
    let pod = Pod::builder(&client(server), "scripted").settings(settings).build().await.unwrap();
    pod.run("go").await.unwrap();
    pod
}

#[tokio::test]
async fn sessions_on_one_runtime_share_connections() {
    let server = ScriptedServer::start(here).await.unwrap();
    let pods = [pod(&server).await, pod(&server).await];
    for pod in &pods {
        pod.run("again").await.unwrap();
    }
    assert_eq!((server.requests().len(), server.connections()), (4, 1));
}

#[test]
fn no_request_waits_for_another_runtime() {
    let serving = Runtime::new().unwrap();
    let server = serving.block_on(ScriptedServer::start(here)).unwrap();
    let runtime = || Builder::new_current_thread().enable_all().build().unwrap();
    let (one, other) = (runtime(), runtime());

    // nobody drives the connection that this leaves behind
    let first = one.block_on(pod(&server));
    let second = other.block_on(pod(&server));
    // sessions may move
    other.block_on(first.run("again")).unwrap();
    one.block_on(second.run("again")).unwrap();
    drop(one);
    for pod in [&first, &second] {
        other.block_on(pod.run("once more")).unwrap();
    }
    drop(other);
    runtime().block_on(first.run("at last")).unwrap();
    assert_eq!(server.requests().len(), 7);
}

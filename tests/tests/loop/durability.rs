//! Durable before it is sent, and nothing is sent that could not be stored.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use insomnia_tasks::{
    Interceptor, Item, ToolOutput, interceptor::RequestContext, reminder::Cadence, session::Session, task::TaskStatus,
    wire::INTERRUPTED, worker::TurnError,
};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::json;

use crate::support::{Latch, cancel, folder, pod, sent, tool};

struct Notes;

#[async_trait::async_trait]
impl Interceptor for Notes {
    async fn pending_history_appends(&self, request: &RequestContext<'_>) -> Vec<Item> {
        vec![Item::notification(format!("note {} {}", request.turn(), request.number()))]
    }
}

/// How many messages of the request are not in the session's file.
fn missing(request: &RecordedRequest, folder: &Path) -> usize {
    let session = Session::read(folder).unwrap();
    assert!(session.damage().is_empty(), "{:?}", session.damage());
    let stored: Vec<_> = session.items().iter().map(Item::json).collect();
    let synthetic = |message: &str| message.contains(INTERRUPTED) || message.contains("\"Be brief.\"");
    let sent = sent(request);
    sent.messages.iter().filter(|sent| !stored.contains(&sent.as_str()) && !synthetic(sent)).count()
}

#[tokio::test]
async fn every_message_that_the_server_gets_is_on_disk_already() {
    for stream in [true, false] {
        let (folder, latch) = (folder(), Arc::new(Latch::new()));
        let dir = folder.path().to_owned();
        let checked = Arc::new(AtomicUsize::new(0));
        let count = checked.clone();
        let model = move |request: &RecordedRequest, number: usize| {
            assert_eq!(missing(request, &dir), 0, "{}", request.text());
            count.fetch_add(1, Ordering::SeqCst);
            match number {
                0 => {
                    Reply::calls([("TaskCreate", json!({"subject": "x", "description": ""})), ("TaskList", json!({}))])
                }
                1 | 4 => Reply::calls([("TaskList", json!({})), ("Stuck", json!({}))]),
                _ => Reply::text("."),
            }
        };
        let waits = latch.clone();
        let stuck = tool("Stuck", move |_| {
            let latch = waits.clone();
            async move {
                latch.pass().await;
                Ok(ToolOutput::new("let go"))
            }
        });
        let server = ScriptedServer::start(model).await.unwrap();
        let mut settings = crate::support::quiet();
        settings.dialect = insomnia_tasks::wire::Dialect::preset("openai");
        let builder = pod(&server, stream).settings(settings).stream(stream).instructions("Be brief.");
        let builder = builder.tools(stuck).interceptor(Notes).cadence(Cadence::new(1, 1).unwrap());
        let pod = builder.session(folder.path()).build().await.unwrap();
        cancel(&pod, "one", latch.reached()).await;
        pod.notify("from outside");
        pod.run("two").await.unwrap();
        pod.run("three").await.unwrap();
        latch.open();
        pod.run("four").await.unwrap();
        assert_eq!(checked.load(Ordering::SeqCst), 6);
        assert_eq!(server.requests().len(), 6);
    }
}

#[tokio::test]
async fn edits_of_the_host_are_on_disk_before_the_next_request() {
    let folder = folder();
    let dir = folder.path().to_owned();
    let statuses = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = statuses.clone();
    let model = move |_: &RecordedRequest, _: usize| {
        let tasks = Session::read(&dir).unwrap().tasks().list();
        seen.lock().unwrap().extend(tasks.into_iter().map(|task| task.status));
        Reply::text(".")
    };
    let server = ScriptedServer::start(model).await.unwrap();
    let pod = pod(&server, true).session(folder.path()).build().await.unwrap();
    let task = pod.tasks().create("x", "").unwrap().taskid;
    pod.run("one").await.unwrap();
    pod.tasks().update(task, TaskStatus::Completed).unwrap();
    pod.run("two").await.unwrap();
    assert_eq!(*statuses.lock().unwrap(), [TaskStatus::Pending, TaskStatus::Completed]);
}

#[tokio::test]
async fn what_the_model_asked_for_is_on_disk_before_its_tools_run() {
    let folder = folder();
    let dir = folder.path().to_owned();
    let look = tool("Look", move |_| {
        let session = Session::read(&dir).unwrap();
        let calls = session.items().last().unwrap().tool_calls().len();
        async move { Ok(ToolOutput::new(format!("{calls} calls are on disk"))) }
    });
    let replies = vec![Reply::calls([("Look", json!({})), ("Look", json!({}))]), Reply::text(".")];
    let server = ScriptedServer::start(replies).await.unwrap();
    let pod = pod(&server, true).tools(look).session(folder.path()).build().await.unwrap();
    pod.run("go").await.unwrap();
    assert_eq!(sent(&server.requests()[1]).results()[0], "2 calls are on disk");
}

#[tokio::test]
async fn a_session_that_cannot_be_stored_sends_nothing() {
    for stream in [true, false] {
        let folder = folder();
        let server = ScriptedServer::start(Reply::text(".")).await.unwrap();
        let pod = pod(&server, stream).session(folder.path()).build().await.unwrap();
        pod.run("one").await.unwrap();
        append_to(&folder.path().join("history.json"));
        let error = pod.run("two").await.unwrap_err();
        assert!(matches!(error, TurnError::Journal(_)), "{error:?}");
        assert!(error.to_string().contains("was changed by another writer"), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_session_that_cannot_be_stored_in_mid_turn_ends_the_turn_before_its_tools_run() {
    let folder = folder();
    let dir = folder.path().to_owned();
    let model = move |_: &RecordedRequest, _: usize| {
        append_to(&dir.join("history.json"));
        Reply::calls([("TaskCreate", json!({"subject": "x", "description": ""}))])
    };
    let server = ScriptedServer::start(model).await.unwrap();
    let pod = pod(&server, true).session(folder.path()).build().await.unwrap();
    let error = pod.run("one").await.unwrap_err();
    assert!(matches!(error, TurnError::Journal(_)), "{error:?}");
    assert!(pod.tasks().list().is_empty());
    assert_eq!(server.requests().len(), 1);
}

/// What no other process should do.
fn append_to(path: &PathBuf) {
    let size = fs::metadata(path).unwrap().len();
    OpenOptions::new().append(true).open(path).unwrap().write_all(b" ").unwrap();
    assert_eq!(fs::metadata(path).unwrap().len(), size + 1);
}

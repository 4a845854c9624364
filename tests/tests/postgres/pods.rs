//! Pods whose session is in Postgres: fenced, renewed, told things, and without a server in mid-turn.

use std::time::Duration;

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{
    ItemKind, Pod,
    session::{
        StorageError, StorageErrorKind,
        postgres::{PostgresError, PostgresOptions, PostgresSessions},
    },
    worker::TurnError,
};
use insomnia_tasks_examples::scripted::{Gate, Reply, ScriptedServer};
use serde_json::json;

use crate::server::{Server, server};

pub(crate) fn client(base_url: &str) -> Client<OpenAIConfig> {
    Client::with_config(OpenAIConfig::new().with_api_base(base_url).with_api_key("none"))
}

async fn pod(model: &ScriptedServer, sessions: &PostgresSessions, name: &str, options: PostgresOptions) -> Pod {
    let builder = Pod::builder(&client(&model.base_url()), "gpt-5-mini").session_in_postgres(sessions, name, options);
    builder.build().await.unwrap()
}

fn taking(owner: &str) -> PostgresOptions {
    PostgresOptions::new().take_over(true).owner(owner)
}

fn list() -> Reply {
    Reply::calls([("TaskList", json!({}))])
}

fn storage_error(outcome: Result<insomnia_tasks::worker::Turn, TurnError>) -> StorageErrorKind {
    match outcome {
        Err(TurnError::Journal(error)) => error.downcast_ref::<StorageError>().unwrap().kind(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_fenced_pod_ends_its_turn_and_sends_nothing_more() {
    let sessions = server!().sessions();
    let gate = Gate::new();
    let model = ScriptedServer::start(vec![list().hold(&gate), Reply::text("by two")]).await.unwrap();
    let one = pod(&model, &sessions, "fenced-pod", taking("one")).await;
    let take_over = async {
        gate.reached().await;
        let two = pod(&model, &sessions, "fenced-pod", taking("two")).await;
        gate.open();
        two
    };
    let (outcome, two) = tokio::join!(one.run("go"), take_over);
    let error = outcome.unwrap_err();
    assert!(error.to_string().contains("taken over by two"), "{error}");
    assert_eq!(storage_error(Err(error)), StorageErrorKind::Fenced);
    assert_eq!(storage_error(one.run("again").await), StorageErrorKind::Fenced);
    assert_eq!(model.requests().len(), 1, "a fenced pod sent something");

    two.run("on").await.unwrap();
    let texts: Vec<_> = two.history().iter().filter_map(insomnia_tasks::Item::text).collect();
    assert_eq!(texts, ["go", "on", "by two"]);
    let stored = sessions.read("fenced-pod").await.unwrap();
    assert_eq!(stored.items().len(), 3);
}

#[tokio::test]
async fn a_pod_that_was_fenced_meanwhile_tries_nothing_again() {
    let sessions = server!().sessions();
    let gate = Gate::new();
    let busy = Reply::error(503, json!({"error": {"message": "busy"}})).hold(&gate);
    let model = ScriptedServer::start(vec![busy, Reply::text("too late")]).await.unwrap();
    let one = pod(&model, &sessions, "fenced-retry", taking("one")).await;
    let take_over = async {
        gate.reached().await;
        let two = pod(&model, &sessions, "fenced-retry", taking("two")).await;
        gate.open();
        two
    };
    let (outcome, _two) = tokio::join!(one.run("go"), take_over);
    assert_eq!(storage_error(outcome), StorageErrorKind::Fenced);
    assert_eq!(model.requests().len(), 1, "a fenced pod sent something");
}

#[tokio::test]
async fn a_long_answer_does_not_cost_the_session() {
    let server = server!();
    let sessions = server.sessions();
    let gate = Gate::new();
    let model = ScriptedServer::start(Reply::text("at last").hold(&gate)).await.unwrap();
    let short = || PostgresOptions::new().lease(Duration::from_millis(400));
    let working = pod(&model, &sessions, "long", short()).await;
    let meanwhile = async {
        gate.reached().await;
        let started = std::time::Instant::now();
        while started.elapsed() < Duration::from_millis(1500) {
            let refused = sessions.open("long", short()).await;
            assert!(matches!(refused, Err(PostgresError::InUse { .. })), "{refused:?}");
        }
        gate.open();
    };
    let (outcome, ()) = tokio::join!(working.run("think"), meanwhile);
    outcome.unwrap();
    // an idle pod has no timer
    while sessions.open("long", short()).await.is_err() {}
}

#[tokio::test]
async fn a_message_of_another_process_goes_with_the_next_request_exactly_once() {
    let server = server!();
    let sessions = server.sessions();
    let other = server.sessions();
    let gate = Gate::new();
    let replies = vec![list().hold(&gate), Reply::text("one"), Reply::text("two"), Reply::text("three")];
    let model = ScriptedServer::start(replies).await.unwrap();
    let first = pod(&model, &sessions, "told", PostgresOptions::new()).await;
    let tell = async {
        gate.reached().await;
        other.notify("told", "the \"build\" has\nfinished \u{0}").await.unwrap();
        gate.open();
    };
    let (outcome, ()) = tokio::join!(first.run("go"), tell);
    outcome.unwrap();
    first.run("on").await.unwrap();
    let requests = model.requests();
    let heard = |request: usize| requests[request].text().matches("has\\nfinished").count();
    assert_eq!([heard(0), heard(1), heard(2)], [0, 1, 1]);
    let told: Vec<_> = first.history().into_iter().filter(|item| item.kind() == ItemKind::Notification).collect();
    assert_eq!(told.len(), 1);

    // told while nobody is there
    drop(first);
    other.notify("told", "good night").await.unwrap();
    let second = pod(&model, &sessions, "told", taking("second")).await;
    second.run("still there?").await.unwrap();
    let last = model.requests().pop().unwrap();
    assert_eq!(last.text().matches("good night").count(), 1);
    assert_eq!(last.text().matches("has\\nfinished").count(), 1);
    let rows =
        server.client().await.query("select 1 from insomnia_inbox where session_id = 'told'", &[]).await.unwrap();
    assert!(rows.is_empty(), "it is still in the inbox");

    let nobody = other.notify("nobody-of-that-name", "hello").await.unwrap_err();
    assert!(matches!(nobody, PostgresError::Missing { .. }), "{nobody}");
}

#[tokio::test]
async fn a_message_that_a_fenced_owner_had_in_hand_reaches_its_successor_once() {
    let sessions = server!().sessions();
    let gate = Gate::new();
    let model = ScriptedServer::start(vec![list().hold(&gate), Reply::text("heard")]).await.unwrap();
    let one = pod(&model, &sessions, "in-hand", taking("one")).await;
    let take_over = async {
        gate.reached().await;
        let two = pod(&model, &sessions, "in-hand", taking("two")).await;
        sessions.notify("in-hand", "psst").await.unwrap();
        gate.open();
        two
    };
    let (outcome, two) = tokio::join!(one.run("go"), take_over);
    assert_eq!(storage_error(outcome), StorageErrorKind::Fenced);
    two.run("on").await.unwrap();
    assert_eq!(model.requests()[1].text().matches("psst").count(), 1);
}

#[tokio::test]
async fn without_the_database_the_turn_ends_and_goes_on_when_it_is_back() {
    let Some(mut server) = Server::start(&[]) else { return };
    let sessions = server.sessions().patience(Duration::from_secs(5));
    let gate = Gate::new();
    let model = ScriptedServer::start(vec![list().hold(&gate), Reply::text("well")]).await.unwrap();
    let pod = Pod::builder(&client(&model.base_url()), "gpt-5-mini")
        .session_in_postgres(&sessions, "gone", PostgresOptions::new())
        .build()
        .await
        .unwrap();
    let crash = async {
        gate.reached().await;
        server.kill();
        gate.open();
    };
    let (outcome, ()) = tokio::join!(pod.run("go"), crash);
    let error = outcome.unwrap_err();
    assert!(error.to_string().contains("cannot reach the database"), "{error}");
    assert_eq!(storage_error(Err(error)), StorageErrorKind::Io);
    assert_eq!(model.requests().len(), 1, "something was sent that is not kept");

    server.restart();
    pod.run("on").await.unwrap();
    let kept = sessions.read("gone").await.unwrap();
    let kept: Vec<_> = kept.items().iter().map(|item| item.json().to_owned()).collect();
    let history: Vec<_> = pod.history().iter().map(|item| item.json().to_owned()).collect();
    assert_eq!(kept, history);
    assert_eq!(history.len(), 4);
}

#[tokio::test]
async fn a_server_that_was_started_again_between_turns_is_not_noticed() {
    let Some(mut server) = Server::start(&["fsync=off"]) else { return };
    let sessions = server.sessions();
    let model = ScriptedServer::start(vec![list(), Reply::text("done"), list(), Reply::text("done")]).await.unwrap();
    let pod = pod(&model, &sessions, "restarted", PostgresOptions::new()).await;
    for turn in 1..=2 {
        pod.run("go").await.unwrap();
        assert_eq!(pod.history().len(), 4 * turn);
        server.kill();
        server.restart();
    }
    sessions.notify("restarted", "hello").await.unwrap();
    assert_eq!(sessions.read("restarted").await.unwrap().items().len(), 8);
    pod.close().await.unwrap();
}

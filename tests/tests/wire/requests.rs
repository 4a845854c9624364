//! Requests carry what was asked for, and nothing else.

use std::collections::BTreeSet;

use insomnia_tasks::{
    Pod,
    wire::Dialect,
    worker::{Worker, WorkerSettings},
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::{Value, json};

use super::client;

#[tokio::test]
async fn a_request_has_exactly_these_keys() {
    let create = json!({"subject": "Tidy up", "description": ""});
    for stream in [false, true] {
        let script = vec![Reply::calls([("TaskCreate", create.clone())]), Reply::text("ok")];
        let server = ScriptedServer::start(script).await.unwrap();
        let pod = Pod::builder(&client(&server), "m").instructions("Be brief.").stream(stream).build().await.unwrap();
        pod.run("plan it").await.unwrap();
        let request = server.requests().pop().unwrap();
        let expected =
            if stream { vec!["messages", "model", "stream", "tools"] } else { vec!["messages", "model", "tools"] };
        let json = request.json();
        assert_eq!(keys(&json), BTreeSet::from_iter(expected));
        for tool in json["tools"].as_array().unwrap() {
            assert_eq!(keys(tool), BTreeSet::from(["function", "type"]));
            assert_eq!(keys(&tool["function"]), BTreeSet::from(["description", "name", "parameters"]));
        }
        let [system, user, assistant, tool] = request.messages().try_into().unwrap();
        assert_eq!(
            (keys(&system), keys(&user)),
            (BTreeSet::from(["content", "role"]), BTreeSet::from(["content", "role"]))
        );
        assert!(keys(&assistant).is_superset(&BTreeSet::from(["content", "role", "tool_calls"])), "{assistant}");
        assert_eq!(keys(&tool), BTreeSet::from(["content", "role", "tool_call_id"]));
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(request.header("authorization"), Some("Bearer sk-test"));
        assert!(request.header("accept-encoding").is_some_and(|encodings| encodings.contains("gzip")));
    }
}

#[tokio::test]
async fn nothing_is_offered_where_there_is_nothing() {
    let server = ScriptedServer::start(Reply::text("ok")).await.unwrap();
    let mut settings = WorkerSettings::default();
    settings.stream = false;
    let mut worker = Worker::builder(&client(&server), "m").settings(settings).build().unwrap();
    worker.run("hi", &|_| {}).await.unwrap();
    assert_eq!(server.requests()[0].text(), r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#);
}

#[tokio::test]
async fn what_the_host_asks_for_is_sent() {
    let server = ScriptedServer::start(Reply::text("ok")).await.unwrap();
    let mut settings = WorkerSettings::default();
    settings.parameters = json!({"temperature": 0.5, "tool_choice": "auto"}).as_object().unwrap().clone();
    settings.stream_usage = Some(true);
    let mut worker = Worker::builder(&client(&server), "m").settings(settings.clone()).build().unwrap();
    worker.run("hi", &|_| {}).await.unwrap();
    settings.stream_usage = None;
    settings.dialect = Dialect::preset("openai");
    let mut worker = Worker::builder(&client(&server), "m").settings(settings).build().unwrap();
    worker.run("hi", &|_| {}).await.unwrap();
    for request in server.requests() {
        let json = request.json();
        let expected = ["messages", "model", "stream", "stream_options", "temperature", "tool_choice"];
        assert_eq!(keys(&json), BTreeSet::from(expected));
        assert_eq!(json["stream_options"], json!({"include_usage": true}));
    }
}

fn keys(object: &Value) -> BTreeSet<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

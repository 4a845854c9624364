//! Answers of every shape, streamed in pieces of every size.

use insomnia_tasks::{ToolOutput, wire::ModelErrorKind};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::json;

use crate::support::{assert_conversation, pod, sent, tool};

const SUBJECT: &str = "Schließe \"Ä\" \\ 日本 \n\t\u{1F600} ab";

#[tokio::test]
async fn arguments_split_at_every_byte() {
    let calls = || [("TaskCreate", json!({"subject": SUBJECT, "description": "x"})), ("TaskGet", json!({"taskid": 1}))];
    let reply = || Reply::text_and_calls("Eins, zwei, drei: 日本.", calls());
    let mut histories = Vec::new();
    for cut in [reply(), reply().argument_pieces(1), reply().chunked(1), reply().argument_pieces(1).chunked(1)] {
        let server = ScriptedServer::start(vec![cut, Reply::text("done").chunked(1)]).await.unwrap();
        let pod = pod(&server, true).build().await.unwrap();
        pod.run("go").await.unwrap();
        assert_eq!(pod.tasks().list()[0].subject, SUBJECT);
        assert_conversation(&server.requests());
        histories.push(pod.history());
    }
    assert!(histories.iter().all(|history| *history == histories[0]));
}

#[tokio::test]
async fn a_text_and_calls_in_one_answer() {
    for stream in [true, false] {
        let reply = Reply::text_and_calls("I make a note.", [("TaskCreate", json!({"subject": "Note"}))]);
        let server = ScriptedServer::start(vec![reply, Reply::text("done")]).await.unwrap();
        let pod = pod(&server, stream).build().await.unwrap();
        assert_eq!(pod.run("go").await.unwrap().text, "done");
        let second = sent(&server.requests()[1]);
        assert_eq!(second.roles(), "uat");
        assert_eq!(second.message(1)["content"], "I make a note.");
        assert_eq!(second.message(1)["tool_calls"][0]["function"]["name"], "TaskCreate");
    }
}

#[tokio::test]
async fn calls_run_whatever_the_finish_reason_says() {
    for stream in [true, false] {
        let reply = Reply::calls([("TaskCreate", json!({"subject": "Note"}))]).finish_reason("stop");
        let server = ScriptedServer::start(vec![reply, Reply::text("done")]).await.unwrap();
        let pod = pod(&server, stream).build().await.unwrap();
        assert_eq!(pod.run("go").await.unwrap().requests, 2);
        assert_eq!(pod.tasks().list().len(), 1);
    }
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_not_run() {
    for stream in [true, false] {
        let calls = [
            ("TaskCreate", json!({"subject": "Whole"})),
            ("TaskCreate", json!("{\"subject\":\"Cut\",\"description\":\"and th")),
        ];
        let reply = Reply::calls(calls).finish_reason("length");
        let server = ScriptedServer::start(vec![reply, Reply::text("done")]).await.unwrap();
        let pod = pod(&server, stream).build().await.unwrap();
        pod.run("go").await.unwrap();
        let subjects: Vec<_> = pod.tasks().list().into_iter().map(|task| task.subject).collect();
        assert_eq!(subjects, ["Whole"]);
        assert!(sent(&server.requests()[1]).results()[1].contains("cut off"));
    }
}

#[tokio::test]
async fn an_empty_answer_is_an_error_and_leaves_a_history_to_go_on_from() {
    for stream in [true, false] {
        let server = ScriptedServer::start(vec![Reply::text(""), Reply::text("here")]).await.unwrap();
        let pod = pod(&server, stream).build().await.unwrap();
        let error = pod.run("one").await.unwrap_err();
        assert_eq!(error.model().unwrap().kind(), ModelErrorKind::Malformed);
        assert_eq!(pod.history().len(), 1);
        assert_eq!(pod.run("two").await.unwrap().text, "here");
        assert_conversation(&server.requests());
    }
}

#[tokio::test]
async fn calls_that_were_announced_and_never_made_end_the_turn() {
    for stream in [true, false] {
        let announced = Reply::text("").finish_reason("tool_calls");
        let server = ScriptedServer::start(vec![announced, Reply::text("here")]).await.unwrap();
        let pod = pod(&server, stream).build().await.unwrap();
        assert_eq!(pod.run("one").await.unwrap().text, "");
        assert_eq!(pod.run("two").await.unwrap().text, "here");
        let second = sent(&server.requests()[1]);
        assert!(!second.messages.iter().any(|message| message.contains(r#""content":"""#)), "{second:?}");
        assert_conversation(&server.requests());
    }
}

#[tokio::test]
async fn unknown_fields_of_an_answer_are_sent_back() {
    let body = json!({"id": "x", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": null, "x_signature": {"b": [1.50, null]}, "tool_calls": [
            {"id": "c1", "type": "function", "index": 0, "extra_content": {"thought": "é"},
             "function": {"name": "Now", "arguments": "{}"}}]}}]});
    let server = ScriptedServer::start(vec![Reply::error(200, body), Reply::text("done")]).await.unwrap();
    let now = tool("Now", |_| async { Ok(ToolOutput::new("noon")) });
    let pod = pod(&server, false).tools(now).build().await.unwrap();
    pod.run("go").await.unwrap();
    let second = sent(&server.requests()[1]);
    assert_eq!(second.message(1)["x_signature"], json!({"b": [1.5, null]}));
    assert_eq!(second.message(1)["tool_calls"][0]["extra_content"]["thought"], "é");
    assert_eq!(second.messages[1], pod.history()[1].json());
}

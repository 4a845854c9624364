//! Messages of the host, which enter through the reminder's lane.

use std::sync::Arc;

use insomnia_tasks::{ItemKind, ToolOutput};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::json;

use crate::support::{Latch, assert_conversation, folder, pod, sent, tool};

#[tokio::test]
async fn a_message_that_comes_while_tools_run_stands_behind_their_results() {
    for stream in [true, false] {
        for (placement, roles) in [("system", "uattss"), ("merge", "uatt"), ("user", "uattuu"), ("developer", "uattdd")]
        {
            let latch = Arc::new(Latch::new());
            let waits = latch.clone();
            let slow = tool("Slow", move |_| {
                let latch = waits.clone();
                async move {
                    latch.pass().await;
                    Ok(ToolOutput::new("slow"))
                }
            });
            let calls = Reply::calls([("Slow", json!({})), ("Slow", json!({}))]);
            let server = ScriptedServer::start(vec![calls, Reply::text("done")]).await.unwrap();
            let mut settings = crate::support::quiet();
            settings.dialect = insomnia_tasks::wire::Dialect::preset("openai")
                .map(|dialect| dialect.with_late_system(placement.parse().unwrap()));
            let pod = pod(&server, stream).settings(settings).stream(stream).tools(slow).build().await.unwrap();
            let meanwhile = async {
                latch.reached().await;
                latch.open();
                latch.reached().await;
                pod.notify("The build is red.");
                pod.notify("And green again.");
                latch.open();
            };
            let (turn, ()) = tokio::join!(pod.run("go"), meanwhile);
            turn.unwrap();
            let requests = server.requests();
            assert_conversation(&requests);
            assert_eq!(sent(&requests[1]).roles(), roles);
            let text = requests[1].text();
            assert!(text.find("The build is red.").unwrap() > text.rfind("slow").unwrap(), "{text}");
            assert!(text.find("And green").unwrap() > text.find("The build is red.").unwrap(), "{text}");
            assert!(!requests[0].text().contains("build"));
        }
    }
}

#[tokio::test]
async fn a_message_goes_with_the_next_request_once_and_causes_none() {
    let server = ScriptedServer::start(Reply::text("ok")).await.unwrap();
    let pod = pod(&server, true).build().await.unwrap();
    pod.notify("before the first prompt");
    assert!(pod.history().is_empty());
    pod.run("one").await.unwrap();
    pod.notify("between");
    assert_eq!(server.requests().len(), 1);
    pod.run("two").await.unwrap();
    pod.run("three").await.unwrap();
    let requests = server.requests();
    assert_conversation(&requests);
    let text = requests[2].text();
    assert_eq!((text.matches("before the first").count(), text.matches("between").count()), (1, 1));
    assert_eq!(sent(&requests[0]).message(0)["content"], "one\n\nbefore the first prompt");
}

#[tokio::test]
async fn a_message_survives_a_resume_and_resets_nothing() {
    let (folder, twin) = (folder(), folder());
    let mut bodies = Vec::new();
    for (dir, reopen) in [(&folder, true), (&twin, false)] {
        let calls = Reply::calls([("TaskCreate", json!({"subject": "x", "description": ""}))]);
        let replies = vec![calls, Reply::text("a"), Reply::text("b"), Reply::text("c")];
        let server = ScriptedServer::start(replies).await.unwrap();
        let mut pod = pod(&server, true).session(dir.path()).build().await.unwrap();
        pod.run("one").await.unwrap();
        pod.notify("The build is green.");
        pod.run("two").await.unwrap();
        assert_eq!(pod.reminders().state().requests_since_last_task_management, 2);
        assert_eq!(pod.reminders().state().requests_since_last_reminder, None);
        let history = pod.history();
        assert_eq!(history[5].kind(), ItemKind::Notification);
        if reopen {
            drop(pod);
            pod = crate::support::pod(&server, true).session(dir.path()).build().await.unwrap();
            assert_eq!(pod.history(), history);
        }
        pod.run("three").await.unwrap();
        assert_conversation(&server.requests());
        bodies.push(server.requests()[3].text());
    }
    assert_eq!(bodies[0], bodies[1]);
    assert_eq!(bodies[0].matches("The build is green.").count(), 1);
}

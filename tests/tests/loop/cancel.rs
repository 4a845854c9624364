//! A turn that is dropped, at every kind of point: what was done is in the history, and the next turn goes on from it.

use std::sync::Arc;

use insomnia_tasks::{Pod, ToolOutput, ToolSet, wire::INTERRUPTED};
use insomnia_tasks_examples::scripted::{Gate, Reply, ScriptedServer};
use serde_json::json;

use crate::support::{Latch, assert_conversation, cancel, folder, pod, sent, tool, tools};

#[tokio::test]
async fn before_the_first_byte_of_the_reply() {
    for stream in [true, false] {
        let gate = Gate::new();
        let server = ScriptedServer::start(vec![Reply::text("late").hold(&gate), Reply::text("here")]).await.unwrap();
        let pod = pod(&server, stream).build().await.unwrap();
        cancel(&pod, "one", gate.reached()).await;
        server.wait_for_hang_ups(1).await;
        assert_goes_on(&server, &pod, &["one"]).await;
    }
}

#[tokio::test]
async fn in_mid_stream() {
    for chunk in 1..5 {
        let gate = Gate::new();
        let reply = Reply::text_and_calls("a b c d e f", [("TaskCreate", json!({"subject": "Half"}))]);
        let server = ScriptedServer::start(vec![reply.hold_chunk(chunk, &gate), Reply::text("here")]).await.unwrap();
        let pod = pod(&server, true).build().await.unwrap();
        cancel(&pod, "one", gate.reached()).await;
        server.wait_for_hang_ups(1).await;
        assert!(pod.tasks().list().is_empty());
        assert_goes_on(&server, &pod, &["one"]).await;
    }
}

#[tokio::test]
async fn in_the_middle_of_a_tool() {
    for stream in [true, false] {
        let latch = Arc::new(Latch::new());
        let calls = [("Stuck", json!({}))];
        let server = ScriptedServer::start(vec![Reply::calls(calls), Reply::text("here")]).await.unwrap();
        let pod = pod(&server, stream).tools(stuck(&latch)).build().await.unwrap();
        cancel(&pod, "one", latch.reached()).await;
        assert_eq!(Arc::strong_count(&latch), 2, "the tool still runs");
        assert_goes_on(&server, &pod, &[INTERRUPTED]).await;
    }
}

#[tokio::test]
async fn between_parallel_tools_the_finished_one_keeps_its_result() {
    for stream in [true, false] {
        for stuck_first in [true, false] {
            let latch = Arc::new(Latch::new());
            let mut calls = vec![
                ("Quick", json!({})),
                ("Stuck", json!({})),
                ("TaskCreate", json!({"subject": "Done before the cancel", "description": ""})),
            ];
            let mut results =
                vec!["quick", INTERRUPTED, r#"{"taskid":1,"status":"pending","subject":"Done before the cancel"}"#];
            if stuck_first {
                calls.swap(0, 1);
                results.swap(0, 1);
            }
            let quick_done = Arc::new(Latch::new());
            let set = tools([stuck(&latch), quick()]);
            let server = ScriptedServer::start(vec![Reply::calls(calls), Reply::text("here")]).await.unwrap();
            let pod = pod(&server, stream).tools(set).build().await.unwrap();
            let told = quick_done.clone();
            let listener = move |event| {
                if matches!(&event, insomnia_tasks::worker::Event::ToolFinished { name, .. } if name == "Quick") {
                    told.tell();
                }
            };
            tokio::select! {
                biased;
                outcome = pod.run_with("one", listener) => panic!("{outcome:?}"),
                () = async { latch.reached().await; quick_done.reached().await } => {}
            }
            assert_eq!(pod.tasks().list().len(), 1);
            assert_goes_on(&server, &pod, &results).await;
        }
    }
}

#[tokio::test]
async fn a_session_that_was_cancelled_and_reopened_sends_what_an_unclosed_one_sends() {
    for stream in [true, false] {
        let mut bodies = Vec::new();
        for reopen in [false, true] {
            let (folder, latch) = (folder(), Arc::new(Latch::new()));
            let calls = [("TaskCreate", json!({"subject": "Kept"})), ("Stuck", json!({})), ("Quick", json!({}))];
            let server = ScriptedServer::start(vec![Reply::calls(calls), Reply::text("here")]).await.unwrap();
            let open = || {
                let builder = pod(&server, stream).tools(tools([stuck(&latch), quick()]));
                builder.session(folder.path()).build()
            };
            let mut pod = open().await.unwrap();
            cancel(&pod, "one", latch.reached()).await;
            let (history, tasks) = (pod.history(), pod.tasks().snapshot());
            if reopen {
                drop(pod);
                pod = open().await.unwrap();
                assert_eq!((pod.history(), pod.tasks().snapshot()), (history, tasks));
            }
            pod.run("two").await.unwrap();
            bodies.push(server.requests()[1].text());
        }
        assert_eq!(bodies[0], bodies[1]);
        assert!(bodies[0].contains(INTERRUPTED));
    }
}

#[tokio::test]
async fn many_times_in_a_row() {
    let gate = Gate::new();
    let mut replies = vec![Reply::text("late").hold(&gate); 5];
    replies.push(Reply::text("here"));
    let server = ScriptedServer::start(replies).await.unwrap();
    let pod = pod(&server, true).build().await.unwrap();
    for number in 1..=5 {
        cancel(&pod, "again", async { drop(server.wait_for_requests(number).await) }).await;
    }
    assert_eq!(pod.run("last").await.unwrap().text, "here");
    assert_conversation(&server.requests());
    assert_eq!(sent(&server.requests()[5]).roles(), "uauauauauau");
    assert_eq!(pod.history().len(), 7);
}

/// The next turn works, its request is a whole conversation, and what stands before its prompt are these contents.
async fn assert_goes_on(server: &ScriptedServer, pod: &Pod, before: &[&str]) {
    assert_eq!(pod.run("two").await.unwrap().text, "here");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_conversation(&requests);
    let second = sent(&requests[1]);
    assert_eq!(second.last()["content"], "two");
    // a stand-in for the missing answer is last, where roles must alternate
    let end = second.messages.len() - 2;
    assert_eq!(second.message(end)["role"], "assistant");
    let found: Vec<_> = (end - before.len()..end).map(|index| second.message(index)["content"].clone()).collect();
    assert_eq!(found, before);
}

fn stuck(latch: &Arc<Latch>) -> ToolSet {
    let latch = latch.clone();
    tool("Stuck", move |_| {
        let latch = latch.clone();
        async move {
            latch.pass().await;
            Ok(ToolOutput::new("never"))
        }
    })
}

fn quick() -> ToolSet {
    tool("Quick", |_| async { Ok(ToolOutput::new("quick")) })
}

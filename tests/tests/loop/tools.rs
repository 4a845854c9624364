//! Tools of one answer: who runs, in which order results are committed, and what the model sees when something is wrong.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use insomnia_tasks::{ToolError, ToolOutput, ToolSet, wire::INTERRUPTED, worker::Event};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::support::{Latch, assert_conversation, cancel, pod, quiet, sent, tool, tools};

/// A turn whose first answer makes these calls; what the next request carries as results.
async fn results_of(calls: Vec<(&'static str, Value)>, set: ToolSet, stream: bool) -> Vec<String> {
    let server = ScriptedServer::start(vec![Reply::calls(calls), Reply::text("done")]).await.unwrap();
    let pod = pod(&server, stream).tools(set).build().await.unwrap();
    let turn = pod.run("go").await.unwrap();
    assert_eq!((turn.text.as_str(), turn.requests), ("done", 2));
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_conversation(&requests);
    sent(&requests[1]).results()
}

fn echo(name: &str) -> ToolSet {
    tool(name, |arguments| async move { Ok(ToolOutput::new(format!("got {arguments}"))) })
}

#[tokio::test]
async fn no_tools_called() {
    for stream in [true, false] {
        let server = ScriptedServer::start(Reply::text("hello").usage(11, 2)).await.unwrap();
        let pod = pod(&server, stream).instructions("Be brief.").build().await.unwrap();
        let turn = pod.run("hi").await.unwrap();
        assert_eq!((turn.text.as_str(), turn.requests, turn.finish_reason.as_deref()), ("hello", 1, Some("stop")));
        assert_eq!(turn.usage.unwrap().prompt_tokens, Some(11));
        let requests = server.requests();
        assert_eq!(sent(&requests[0]).roles(), "su");
        assert_eq!(requests[0].tool_names(), ["TaskCreate", "TaskUpdate", "TaskList", "TaskGet"]);
        assert_eq!(requests[0].wants_stream(), stream);
        assert_eq!(requests.len(), 1);
    }
}

#[tokio::test]
async fn one_tool() {
    for stream in [true, false] {
        let results = results_of(vec![("Echo", json!({"text": "Grüße"}))], echo("Echo"), stream).await;
        assert_eq!(results, [r#"got {"text":"Grüße"}"#]);
    }
}

#[tokio::test]
async fn parallel_results_stand_in_call_order_though_they_finish_in_another() {
    for stream in [true, false] {
        let latches = [Arc::new(Latch::new()), Arc::new(Latch::new())];
        let waiting = |name: &'static str, latch: &Arc<Latch>| {
            let latch = latch.clone();
            tool(name, move |_| {
                let latch = latch.clone();
                async move {
                    latch.pass().await;
                    Ok(ToolOutput::new(name))
                }
            })
        };
        let set = tools([waiting("First", &latches[0]), waiting("Second", &latches[1])]);
        let calls = [("First", json!({})), ("Second", json!({})), ("TaskCreate", json!({"subject": "Third"}))];
        let server = ScriptedServer::start(vec![Reply::calls(calls), Reply::text("done")]).await.unwrap();
        let pod = pod(&server, stream).tools(set).build().await.unwrap();
        let finished = std::sync::Mutex::new(Vec::new());
        let listener = |event| {
            if let Event::ToolFinished { name, .. } = event {
                // the second has ended, and now the first may
                if name == "Second" {
                    latches[0].open();
                }
                finished.lock().unwrap().push(name);
            }
        };
        let release = async {
            latches[0].reached().await;
            latches[1].reached().await;
            latches[1].open();
        };
        let (turn, ()) = tokio::join!(pod.run_with("go", listener), release);
        turn.unwrap();
        assert_eq!(*finished.lock().unwrap(), ["TaskCreate", "Second", "First"]);
        let requests = server.requests();
        assert_conversation(&requests);
        let results = sent(&requests[1]).results();
        assert_eq!(results[..2], ["First", "Second"]);
        assert!(results[2].contains("Third"), "{results:?}");
    }
}

#[tokio::test]
async fn no_more_tools_run_at_once_than_allowed() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let latch = Arc::new(Latch::new());
    let set = {
        let (running, most, latch) = (running.clone(), most.clone(), latch.clone());
        tool("Slow", move |_| {
            let (running, most, latch) = (running.clone(), most.clone(), latch.clone());
            async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                latch.pass().await;
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(ToolOutput::new("ok"))
            }
        })
    };
    let calls = (0..7).map(|_| ("Slow", json!({})));
    let server = ScriptedServer::start(vec![Reply::calls(calls), Reply::text("done")]).await.unwrap();
    let mut settings = quiet();
    settings.tool_concurrency = 3;
    let pod = pod(&server, true).settings(settings).tools(set).build().await.unwrap();
    let release = async {
        for _ in 0..3 {
            latch.reached().await;
        }
        for _ in 0..4 {
            latch.open();
            latch.reached().await;
        }
        (0..3).for_each(|_| latch.open());
    };
    let (turn, ()) = tokio::join!(pod.run("go"), release);
    turn.unwrap();
    assert_eq!(most.load(Ordering::SeqCst), 3);
    assert_eq!(sent(&server.requests()[1]).results(), ["ok"; 7]);
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_those_there_are() {
    for stream in [true, false] {
        let calls = vec![("task_create", json!({})), ("Rm", json!({})), ("Echo", json!({}))];
        let results = results_of(calls, echo("Echo"), stream).await;
        assert!(results[0].contains("Did you mean `TaskCreate`?"), "{results:?}");
        let all = "there is no tool named `Rm`; nothing was run. \
                   The tools are: Echo, TaskCreate, TaskUpdate, TaskList, TaskGet.";
        assert_eq!(results[1], format!("error: {all}"));
        assert_eq!(results[2], "got {}");
    }
}

#[tokio::test]
async fn bad_arguments_get_a_result_that_helps_and_the_turn_goes_on() {
    for stream in [true, false] {
        let calls = vec![
            ("TaskCreate", json!("{\"subject\":")),
            ("TaskCreate", json!("[1]")),
            ("TaskCreate", json!({"description": "without a subject"})),
            ("Echo", json!("nonsense")),
            ("TaskCreate", json!({"subject": "Fine", "description": ""})),
        ];
        let results = results_of(calls, echo("Echo"), stream).await;
        assert!(results[0].contains("cut off") || results[0].contains("JSON"), "{results:?}");
        assert!(results[1].contains("must be a JSON object, not an array"), "{results:?}");
        assert!(results[2].contains("missing field `subject`"), "{results:?}");
        assert!(results[3].starts_with("error: the arguments are not valid JSON"), "{results:?}");
        assert_eq!(results[4], r#"{"taskid":1,"status":"pending","subject":"Fine"}"#);
    }
}

#[tokio::test]
async fn a_panic_becomes_the_result() {
    for stream in [true, false] {
        let boom = tool("Boom", |arguments| async move { panic!("at {arguments}") });
        let at_once = tool("AtOnce", |_| -> std::future::Ready<Result<ToolOutput, ToolError>> { panic!("no future") });
        let calls = vec![("Boom", json!({})), ("Echo", json!({})), ("AtOnce", json!({}))];
        let results = results_of(calls, tools([boom, echo("Echo"), at_once]), stream).await;
        assert_eq!(
            results,
            ["error: the tool failed inside: at {}", "got {}", "error: the tool failed inside: no future"]
        );
    }
}

#[tokio::test]
async fn a_tool_that_takes_too_long_is_stopped_and_its_result_says_so() {
    for stream in [true, false] {
        let alive = Arc::new(());
        let held = Arc::downgrade(&alive);
        let stuck = tool("Stuck", move |_| {
            let guard = alive.clone();
            async move {
                let _guard = guard;
                std::future::pending().await
            }
        });
        let calls = [("Stuck", json!({})), ("Echo", json!({}))];
        let server = ScriptedServer::start(vec![Reply::calls(calls), Reply::text("done")]).await.unwrap();
        let mut settings = quiet();
        settings.tool_timeout = Some(Duration::from_millis(1));
        let builder = pod(&server, stream).settings(settings).stream(stream);
        let pod = builder.tools(tools([stuck, echo("Echo")])).build().await.unwrap();
        pod.run("go").await.unwrap();
        let results = sent(&server.requests()[1]).results();
        assert_eq!(results, ["error: the tool did not end within 1ms and was stopped", "got {}"]);
        assert_eq!(held.strong_count(), 1, "the tool still runs");
    }
}

#[tokio::test]
async fn a_panic_while_a_tool_is_stopped_stays_with_the_tool() {
    for stream in [true, false] {
        let calls = [("Stuck", json!({})), ("Echo", json!({}))];
        let server = ScriptedServer::start(vec![Reply::calls(calls), Reply::text("done")]).await.unwrap();
        let mut settings = quiet();
        settings.tool_timeout = Some(Duration::from_millis(1));
        let builder = pod(&server, stream).settings(settings).stream(stream);
        let pod = builder.tools(tools([panics_when_dropped(|| ()), echo("Echo")])).build().await.unwrap();
        pod.run("go").await.unwrap();
        let results = sent(&server.requests()[1]).results();
        assert_eq!(results, ["error: the tool did not end within 1ms and was stopped", "got {}"]);
    }
}

#[tokio::test]
async fn a_panic_while_a_turn_is_dropped_stays_with_the_tool() {
    for stream in [true, false] {
        let latch = Arc::new(Latch::new());
        let calls = [("Echo", json!({})), ("Stuck", json!({}))];
        let server = ScriptedServer::start(vec![Reply::calls(calls), Reply::text("done")]).await.unwrap();
        let told = latch.clone();
        let stuck = panics_when_dropped(move || told.tell());
        let pod = pod(&server, stream).tools(tools([echo("Echo"), stuck])).build().await.unwrap();
        cancel(&pod, "go", latch.reached()).await;
        pod.run("go on").await.unwrap();
        let results = sent(&server.requests()[1]).results();
        assert_eq!(results, ["got {}", INTERRUPTED]);
    }
}

/// Never ends, and panics when it is dropped; `started` is called first.
fn panics_when_dropped(started: impl Fn() + Send + Sync + 'static) -> ToolSet {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("within a destructor");
        }
    }
    tool("Stuck", move |_| {
        started();
        async {
            let _panics = Panics;
            std::future::pending().await
        }
    })
}

#[tokio::test]
async fn what_a_tool_says_of_its_failure_is_the_result() {
    for stream in [true, false] {
        let failing = tool("Fails", |_| async { Err(ToolError::new("the disk is full; free some space")) });
        let results = results_of(vec![("Fails", json!({}))], failing, stream).await;
        assert_eq!(results, ["error: the disk is full; free some space"]);
    }
}

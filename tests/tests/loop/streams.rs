//! A turn as a stream of what happens.

use futures_util::{FutureExt, StreamExt};
use insomnia_tasks::{pod::TurnStep, worker::Event};
use insomnia_tasks_examples::scripted::{Gate, Reply, ScriptedServer};
use serde_json::json;

use crate::support::{assert_conversation, pod, refusal};

/// A step's name, and what tells it from others of its name.
fn name(step: &TurnStep) -> String {
    match step {
        TurnStep::Event(Event::RequestStarted { number }) => format!("request {number}"),
        TurnStep::Event(Event::TextDelta(text)) => format!("text {text}"),
        TurnStep::Event(Event::ReasoningDelta(text)) => format!("reasoning {text}"),
        TurnStep::Event(Event::RequestFinished { number, finish_reason }) => {
            format!("answer {number} {}", finish_reason.as_deref().unwrap_or("-"))
        }
        TurnStep::Event(Event::Usage(usage)) => format!("usage {:?}", usage.completion_tokens),
        TurnStep::Event(Event::ReminderDecided(decision)) => format!("{decision}"),
        TurnStep::Event(Event::ToolStarted { id, name, arguments }) => format!("start {id} {name} {arguments}"),
        TurnStep::Event(Event::ToolFinished { id, name, ok, .. }) => format!("end {id} {name} {ok}"),
        TurnStep::Event(Event::TurnFinished { requests }) => format!("finished {requests}"),
        TurnStep::Event(other) => format!("{other:?}"),
        TurnStep::Done(outcome) => format!("done {}", outcome.is_ok()),
    }
}

#[tokio::test]
async fn events_come_in_order_and_the_outcome_last() {
    for stream in [true, false] {
        let calls = [("TaskCreate", json!({"subject": "x"})), ("Nobody", json!({}))];
        let replies = vec![
            Reply::text_and_calls("one two three four", calls).usage(9, 5),
            Reply::text("done").reasoning("hm").usage(12, 1),
        ];
        let server = ScriptedServer::start(replies).await.unwrap();
        let pod = pod(&server, stream).build().await.unwrap();
        let steps: Vec<_> = pod.stream("go").collect().await;
        let names: Vec<_> = steps.iter().map(name).collect();
        let mut expected = vec!["no reminder: no active task", "request 1"];
        expected.extend(if stream {
            vec!["text one two three ", "text four"]
        } else {
            vec!["text one two three four"]
        });
        expected.extend([
            "usage Some(5)",
            "answer 1 tool_calls",
            "start call_1 TaskCreate {\"subject\":\"x\"}",
            "end call_1 TaskCreate true",
            "start call_2 Nobody {}",
            "end call_2 Nobody false",
            "no reminder: task tools used 0 requests ago",
            "request 2",
        ]);
        expected.extend(stream.then_some("reasoning hm"));
        expected.extend(["text done", "usage Some(1)", "answer 2 stop", "finished 2", "done true"]);
        assert_eq!(names, expected);
        let Some(TurnStep::Done(Ok(turn))) = steps.last() else { panic!() };
        assert_eq!((turn.text.as_str(), turn.requests), ("done", 2));
    }
}

#[tokio::test]
async fn a_failure_is_the_last_element_and_nothing_follows() {
    let server = ScriptedServer::start(refusal(400, "no")).await.unwrap();
    let pod = pod(&server, true).build().await.unwrap();
    let mut steps = pod.stream("go");
    let mut last = None;
    while let Some(step) = steps.next().await {
        last = Some(step);
    }
    assert!(matches!(last, Some(TurnStep::Done(Err(_)))), "{last:?}");
    assert!(steps.next().await.is_none());
}

#[tokio::test]
async fn a_turn_does_not_begin_before_its_stream_is_polled_and_ends_when_it_is_dropped() {
    let gate = Gate::new();
    let replies = vec![Reply::text("one two three four five six").hold_chunk(2, &gate), Reply::text("here")];
    let server = ScriptedServer::start(replies).await.unwrap();
    let pod = pod(&server, true).build().await.unwrap();
    drop(pod.stream("never begun"));
    assert!(pod.history().is_empty());

    let mut steps = pod.stream("one");
    loop {
        let step = steps.next().await.unwrap();
        if matches!(&step, TurnStep::Event(Event::TextDelta(_))) {
            break;
        }
    }
    gate.reached().await;
    assert!(steps.next().now_or_never().is_none());
    drop(steps);
    server.wait_for_hang_ups(1).await;
    assert_eq!(pod.history().len(), 1);

    let steps: Vec<_> = pod.stream("two").collect().await;
    assert!(matches!(steps.last(), Some(TurnStep::Done(Ok(turn))) if turn.text == "here"));
    assert_conversation(&server.requests());
}

#[tokio::test]
async fn the_requests_of_a_session_share_one_connection() {
    for stream in [true, false] {
        let calls = || Reply::calls([("TaskList", json!({}))]).usage(5, 1);
        let server = ScriptedServer::start(vec![calls(), calls(), calls(), Reply::text("done")]).await.unwrap();
        let pod = pod(&server, stream).build().await.unwrap();
        pod.run("go").await.unwrap();
        pod.run("again").await.unwrap_err();
        assert_eq!((server.requests().len(), server.connections()), (5, 1), "streaming: {stream}");
    }
}

use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::place::{Place, create, half, server};

fn events(stdout: &str) -> Vec<Value> {
    let lines: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["event"].is_string()), "{stdout}");
    lines
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

#[test]
fn the_demo_as_events() {
    let place = Place::new();
    let ran = place.bare(&["--output", "json"]).run().ended(0).told(&["This is the demo"]);
    let events = events(&ran.stdout);
    assert_eq!((&events[0]["event"], &events[0]["demo"]), (&json!("session_opened"), &json!(true)));
    assert_eq!(events.last().unwrap()["event"], "turn_finished");
    let fired: Vec<_> = named(&events, "reminder").into_iter().filter(|event| event["fired"] == true).collect();
    assert_eq!(fired.len(), 1);
    assert_eq!(named(&events, "request_started").len(), 11);
    assert_eq!(named(&events, "task").len(), 6);
    let text: String = named(&events, "text_delta").iter().filter_map(|event| event["text"].as_str()).collect();
    assert!(text.ends_with(events.last().unwrap()["text"].as_str().unwrap()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn hostile_text_stays_in_its_line() {
    let place = Place::new();
    let text = "a\nb\u{1b}]0;x\u{7}\u{2028}{\"event\":\"fake\"}";
    let server = server(vec![create(text), Reply::text(text)]).await;
    let ran = place.chat(&server, &["--output", "json", "-p", text]).run().ended(0);
    let events = events(&ran.stdout);
    assert_eq!(events.last().unwrap()["text"], text);
    assert_eq!(named(&events, "turn_started")[0]["prompt"], text);
    assert!(named(&events, "fake").is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn failures_are_events_and_told_to_people() {
    let place = Place::new();
    let locked = ScriptedServer::start_with_key(Reply::text("hi"), "sk-right").await.unwrap();
    let flags = ["--output", "json", "--api-key", "sk-wrong", "-p", "A"];
    let ran = place.chat(&locked, &flags).run().ended(1).told(&["error: ", "hint: "]);
    let events = events(&ran.stdout);
    let failed = events.last().unwrap();
    assert_eq!(
        (&failed["event"], &failed["kind"], &failed["status"]),
        (&"turn_failed".into(), &"auth".into(), &401.into())
    );
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_cancelled_turn_is_an_event() {
    let place = Place::new();
    let server = server(vec![half("half")]).await;
    let mut running = place.chat(&server, &["--output", "json", "-p", "A"]).start();
    running.says("half");
    running.signal("INT");
    let ran = running.wait().ended(1);
    assert_eq!(events(&ran.stdout).last().unwrap(), &json!({"event": "turn_cancelled"}));
}

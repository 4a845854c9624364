use std::collections::BTreeSet;

use insomnia_tasks_examples::scripted::{End, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::place::{Place, create, half, server};

const SCHEMA: &str = include_str!("../../../docs/chat-json.schema.json");
const PAGE: &str = include_str!("../../../docs/chat-json.md");

/// Every line, held to the schema; fields that it does not know are refused here.
fn events(stdout: &str) -> Vec<Value> {
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    for line in schema["oneOf"].as_array_mut().unwrap() {
        line["additionalProperties"] = json!(false);
    }
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let lines: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        assert!(validator.is_valid(line), "{line} is not as the schema says");
    }
    lines
}

/// The names of all events that the schema knows.
fn kinds() -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let lines = schema["oneOf"].as_array().unwrap().iter();
    lines.map(|line| line["properties"]["event"]["const"].as_str().unwrap().to_owned()).collect()
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
    assert_eq!(named(&events, "task").len(), 7);
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

#[test]
fn the_schema_is_one_and_refuses_what_is_none() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for wrong in [
        json!({"event": "nonsense"}),
        json!({"event": "text_delta"}),
        json!({"event": "turn_failed", "kind": "bad luck", "error": "", "status": null}),
        json!({"event": "task", "task": {"taskid": 1, "status": "done", "subject": "", "description": ""}}),
        json!([]),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
    // what is added later must not break who validates
    assert!(validator.is_valid(&json!({"event": "turn_cancelled", "later": 1})));
}

#[test]
fn the_pages_example_is_as_the_schema_says() {
    let example = PAGE.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(events(example).len() > 10);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn every_kind_of_event_is_printed_as_the_schema_says() {
    let json = ["--output", "json"];
    let mut printed = place_demo();
    // a refused form, a failure that passes, a chain of thought, a failed tool, a limit
    let refused = json!({"error": {"message": "System message must be at the beginning"}});
    let event = "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"half\"}}]}\n\n";
    let cut = Reply::raw(200, event).header("content-type", "text/event-stream").then(End::Truncate);
    let replies = vec![
        create("Tidy up"),
        Reply::error(400, refused),
        Reply::error(500, json!({"error": {"message": "busy"}})),
        cut,
        Reply::calls([("ReadFile", json!({"path": "missing"}))]).usage(5, 3),
        Reply::text("hm").reasoning("thinking"),
        half("half"),
    ];
    let place = Place::new();
    let server = server(replies).await;
    let flags = ["-p", "A", "--inactivity", "1", "--cooldown", "1", "--reminder", "auto"];
    let ran = place.chat(&server, &[&json[..], &flags].concat()).run().ended(0);
    printed.extend(events(&ran.stdout));
    let mut running = place.chat(&server, &[&json[..], &["-p", "B"]].concat()).start();
    running.says("half");
    running.signal("INT");
    printed.extend(events(&running.wait().ended(1).stdout));
    let limited = place.chat(&server, &[&json[..], &["-p", "C", "--no-stream"]].concat()).run().ended(1);
    printed.extend(events(&limited.stdout));
    let seen: BTreeSet<_> = printed.iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(seen, kinds());
}

fn place_demo() -> Vec<Value> {
    events(&Place::new().bare(&["--output", "json"]).run().ended(0).stdout)
}

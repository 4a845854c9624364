use std::{collections::BTreeSet, fs};

use insomnia_tasks_examples::scripted::{End, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::place::{Place, create, half, server};
#[cfg(unix)]
use crate::screen::Screen;

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
    let mut in_turn = false;
    for (number, line) in lines.iter().enumerate() {
        assert!(validator.is_valid(line), "{line} is not as the schema says");
        let event = line["event"].as_str().unwrap();
        assert_eq!(number == 0, event == "session_opened", "{line}");
        let (begins, ends) = (event == "turn_started", event.starts_with("turn_") && event != "turn_started");
        assert!(if in_turn { !begins } else { !ends }, "{line} is out of turn");
        in_turn = begins || in_turn && !ends;
    }
    assert!(!in_turn, "a turn has no end");
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
    let server = server(vec![half("half"), half("half")]).await;
    for (signal, code) in [("INT", 1), ("TERM", 143)] {
        let mut running = place.chat(&server, &["--output", "json", "-p", "A"]).start();
        running.says("half");
        running.signal(signal);
        let ran = running.wait().ended(code);
        assert_eq!(events(&ran.stdout).last().unwrap(), &json!({"event": "turn_cancelled"}));
    }
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
    printed.extend(at_a_prompt().await);
    let seen: BTreeSet<_> = printed.iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(seen, kinds());
}

fn place_demo() -> Vec<Value> {
    events(&Place::new().bare(&["--output", "json"]).run().ended(0).stdout)
}

/// What a person's session prints into a file, and one that resumes it.
#[cfg(unix)]
async fn at_a_prompt() -> Vec<Value> {
    let place = Place::new();
    let refusal = Reply::error(400, json!({"error": {"message": "no such thing"}}));
    let replies = vec![
        create("Tidy up"),
        Reply::text("one"),
        Reply::text("two"),
        Reply::text("They counted."),
        refusal,
        half("half"),
        Reply::text("three"),
    ];
    let server = server(replies).await;
    let program = place.chat(&server, &["--output", "json"]);
    let mut screen = Screen::start_as(r#"exec "$0" "$@" >events"#, &place, &program, 80, 40);
    for line in ["A", "B", "/compact", "/tasks add Water the plants", "/tasks", "/last", "/help", "C", "D"] {
        screen.line(line);
    }
    server.wait_for_requests(6).await;
    screen.types("\u{3}");
    screen.line("/rewind");
    screen.line("/quit");
    screen.ended(1);
    let mut printed = events(&fs::read_to_string(place.path("work/events")).unwrap());
    let compacted = &named(&printed, "compacted")[0];
    assert_eq!((&compacted["replaced"], &compacted["summary"]), (&json!(4), &json!("They counted.")));
    // two by the model and the person, and two that were asked for
    assert_eq!(named(&printed, "task").len(), 4);
    let ends = ["turn_finished", "turn_failed", "turn_cancelled"].map(|end| named(&printed, end).len());
    assert_eq!(ends, [2, 1, 1]);
    let resumed = events(&place.chat(&server, &["--output", "json", "-p", "E"]).run().ended(0).stdout);
    assert!(resumed[0]["messages"].as_u64().unwrap() > 0);
    printed.extend(resumed);
    printed
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_person_at_the_prompt_gets_events_alone_on_stdout() {
    at_a_prompt().await;
}

#[test]
fn what_opens_no_session_prints_nothing() {
    let place = Place::new();
    fs::write(place.path("file"), "text").unwrap();
    let file = place.path("file");
    for (flags, code) in [(&["--demo", "--session", file.to_str().unwrap()][..], 3), (&["--base-url", "nonsense"], 2)] {
        let ran = place.bare(&["--output", "json", "-p", "A"]).args(flags).run().ended(code);
        assert_eq!(ran.stdout, "");
    }
}

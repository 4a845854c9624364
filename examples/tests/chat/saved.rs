use std::fs;

use insomnia_tasks_examples::scripted::Reply;
use serde_json::Value;

use crate::place::{Place, create, raw_messages, server};

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn history_gives_the_exact_messages() {
    let place = Place::new();
    let text = "\u{9b}31m \u{202e} \u{1b}[2J \u{2028} \"é\" \\";
    let server = server(vec![create(text), Reply::text(text), Reply::text("end")]).await;
    place.chat(&server, &["-p", text, "-p", "B"]).run().ended(0);
    let session = place.session();
    let history = place.bare(&["history", "--session", session.to_str().unwrap()]).run().ended(0);
    let exact: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(&history.stdout).unwrap();
    let exact: Vec<_> = exact.iter().map(|message| message.get().to_owned()).collect();
    let sent = raw_messages(&server.requests()[2]);
    // the prompt of the system is no message of the history
    assert_eq!(exact[..exact.len() - 1], sent[1..]);

    let tasks = place.bare(&["tasks", "--session", session.to_str().unwrap()]).run().ended(0);
    let tasks: Vec<Value> = serde_json::from_str(&tasks.stdout).unwrap();
    assert_eq!((tasks[0]["taskid"].as_u64(), tasks[0]["status"].as_str()), (Some(1), Some("pending")));
}

#[test]
fn a_missing_session_is_code_3() {
    let place = Place::new();
    for what in ["tasks", "history"] {
        let ran = place.bare(&[what, "--session", "absent"]).run().ended(3).told(&["no session in", "absent"]);
        assert_eq!(ran.stdout, "");
    }
    assert!(!place.path("work/absent").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn damage_in_the_middle_is_a_warning() {
    let place = Place::new();
    let server = server(vec![create("first"), create("second"), Reply::text("done"), Reply::text("more")]).await;
    place.chat(&server, &["-p", "A"]).run().ended(0);
    let damaged = place.history_file().replacen("\"kind\":\"assistant\"", "\"kind\":\"assis", 1);
    fs::write(place.session().join("history.json"), damaged).unwrap();
    let session = place.session();
    for what in ["tasks", "history"] {
        let ran = place.bare(&[what, "--session", session.to_str().unwrap()]).run().ended(0).told(&["warning: line "]);
        serde_json::from_str::<Vec<Value>>(&ran.stdout).unwrap();
    }
    place.chat(&server, &["-p", "B"]).run().ended(0).told(&["warning: line "]);
}

#[test]
fn a_session_without_words_is_an_empty_array() {
    let place = Place::new();
    let session = place.session();
    let session = session.to_str().unwrap();
    place.bare(&["--base-url", "http://127.0.0.1:9/v1", "--session", session]).run().ended(0);
    for what in ["tasks", "history"] {
        assert_eq!(place.bare(&[what, "--session", session]).run().ended(0).stdout, "[]\n");
    }
}

use std::fs;

use insomnia_tasks_examples::scripted::{End, Reply, ScriptedServer};
use serde_json::json;

use crate::place::{Place, Ran, server};

const KEY: &str = "sk-verysecret";
const PROMPT: &str = "the private prompt";

/// Runs the prompt with the key; neither may be told, nor anything else but the error.
fn fail(place: &Place, server: &ScriptedServer, flags: &[&str]) -> Ran {
    let ran = place.chat(server, &[&["-p", PROMPT, "--api-key", KEY], flags].concat()).run().ended(1);
    assert!(!format!("{ran:?}").contains(KEY), "{ran:?}");
    assert!(!ran.stderr.contains(PROMPT), "{ran:?}");
    // what was asked is kept all the same
    assert!(place.history_file().contains(PROMPT));
    ran
}

#[test]
fn wrong_usage_is_code_2() {
    let place = Place::new();
    for (flags, words) in [
        (vec!["--nonsense"], vec!["--nonsense", "--help"]),
        (vec!["-p", ""], vec!["a prompt needs some text"]),
        (vec!["-p", " \n"], vec!["a prompt needs some text"]),
        (vec!["a prompt without its flag"], vec!["--help"]),
        (vec!["--output", "xml"], vec!["text, json"]),
        (vec!["--base-url", "localhost:11434", "-p", "A"], vec!["localhost:11434", "http://localhost:11434/v1"]),
        (vec!["tasks"], vec!["--session"]),
        (vec!["history", "--session", "s", "-p", "A"], vec!["-p"]),
    ] {
        let ran = place.bare(&flags).run().ended(2).told(&words);
        assert_eq!(ran.stdout, "", "{flags:?}");
    }
    assert!(!place.path("home/data").exists());
}

#[test]
fn an_unreachable_server() {
    let place = Place::new();
    let session = place.session();
    // port 9 of loopback is refused at once
    let flags = ["--base-url", "http://127.0.0.1:9/v1", "-p", "A", "--session", session.to_str().unwrap()];
    place.bare(&flags).run().ended(1).told(&["no connection to the server", "trying again", "--base-url", "--demo"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_wrong_key() {
    let place = Place::new();
    let locked = ScriptedServer::start_with_key(Reply::text("hi"), "sk-right").await.unwrap();
    fail(&place, &locked, &[]).told(&["refused the API key", "401", "--api-key", "OPENAI_API_KEY"]);
    let quoting = Reply::error(401, json!({"error": {"message": format!("Incorrect API key provided: {KEY}.")}}));
    fail(&place, &server(vec![quoting]).await, &[]).told(&["Incorrect API key provided: ***"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_unknown_model_or_path() {
    let place = Place::new();
    let unknown = json!({"error": {"message": "The model `huge` does not exist", "code": "model_not_found"}});
    let unknown = server(vec![Reply::error(404, unknown)]).await;
    fail(&place, &unknown, &["--model", "huge"]).told(&["does not know the model", "huge", "--model"]);
    let wrong_path = Reply::error(404, json!({"detail": "Not Found"}));
    fail(&place, &server(vec![wrong_path]).await, &[]).told(&["nothing at this address", "/v1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_failing_server_is_asked_three_times() {
    let place = Place::new();
    let broken = server(vec![Reply::error(500, json!({"error": {"message": "out of luck"}})); 9]).await;
    let ran = fail(&place, &broken, &[]).told(&["the server failed", "500", "out of luck"]);
    assert_eq!((broken.requests().len(), ran.stderr.matches("trying again").count()), (3, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_stream_that_is_cut_off() {
    let place = Place::new();
    let event = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"this much\"}}]}\n\n";
    let cut = Reply::raw(200, event).header("content-type", "text/event-stream").then(End::Truncate);
    let ran =
        fail(&place, &server(vec![cut; 3]).await, &[]).told(&["ended before the answer did", "send the prompt again"]);
    assert_eq!(ran.stdout, "this much\n");
}

#[test]
fn a_session_that_cannot_be_opened_is_code_3() {
    let place = Place::new();
    let file = place.path("file");
    fs::write(&file, "text").unwrap();
    let inside = file.join("session");
    let foreign = place.path("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("history.json"), "{\"mine\": 1}").unwrap();
    for (folder, words) in [
        (file.to_str().unwrap(), vec!["is a file", "name a folder"]),
        (inside.to_str().unwrap(), vec!["file"]),
        (foreign.to_str().unwrap(), vec!["is not a session's history", "choose another folder"]),
        ("/proc/insomnia-tasks", vec!["cannot create the session folder", "choose a place"]),
    ] {
        if folder.starts_with("/proc") && !cfg!(target_os = "linux") {
            continue;
        }
        let ran = place
            .bare(&["--demo", "-p", "A", "--session", folder])
            .run()
            .ended(3)
            .told(&["error: ", "hint: --session DIR"])
            .told(&words);
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1);
}

#[test]
fn a_home_that_cannot_be_written_is_code_3() {
    let place = Place::new();
    std::fs::write(place.path("file"), "text").unwrap();
    let program = place.bare(&["--demo", "-p", "A"]).env("XDG_DATA_HOME", place.path("file").to_str().unwrap());
    program.run().ended(3).told(&["error: ", "hint: --session DIR"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_damaged_or_newer_session_is_code_3_and_left_alone() {
    let place = Place::new();
    let fine = server(vec![Reply::text("hi")]).await;
    place.chat(&fine, &["-p", "A"]).run().ended(0);
    let path = place.session().join("history.json");
    let whole = place.history_file();
    for (from, to, word) in
        [("\"session\":\"", "\"session\":", "the first line of"), ("\"format\":1", "\"format\":99", "format 99")]
    {
        let damaged = whole.replacen(from, to, 1);
        fs::write(&path, &damaged).unwrap();
        place.chat(&fine, &["-p", "A"]).run().ended(3).told(&[word]);
        place.bare(&["tasks", "--session", place.session().to_str().unwrap()]).run().ended(3).told(&[word]);
        assert_eq!(place.history_file(), damaged);
    }
}

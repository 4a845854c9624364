//! The server with the official Python client, over stdio.
//!
//! Runs where `tests/setup.sh` has installed the client. Elsewhere it says that it is skipped, or fails where
//! `INSOMNIA_TESTS_REQUIRE_ALL=1` demands every test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests, where these are the failure

use std::{
    io::{BufRead, BufReader, Lines, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use insomnia_tasks::{reminder::Cadence, session::Session};
use insomnia_tasks_mcp::TaskServer;
use serde_json::{Value, json};

const SERVER: &str = env!("CARGO_BIN_EXE_insomnia-tasks-mcp");

/// A running client and, under it, the server.
struct Client {
    process: Child,
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
}

impl Client {
    fn start(handshake: &str, folder: &Path) -> Self {
        let mut process = Command::new(python())
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client.py"))
            .args([handshake, SERVER])
            .args(["--inactivity", "2", "--cooldown", "3", "--session"])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()).lines());
        Self { process, to, from }
    }

    fn send(&mut self, step: &Value) {
        writeln!(self.to, "{step}").unwrap();
    }

    fn ask(&mut self, step: &Value) -> Value {
        self.send(step);
        serde_json::from_str(&self.from.next().expect("an answer").unwrap()).unwrap()
    }

    /// A call that is not refused: whether it failed, and its texts.
    fn call(&mut self, name: &str, arguments: Value) -> (bool, Vec<String>) {
        let answer = self.ask(&json!(["call", name, arguments]));
        (answer["error"].as_bool().unwrap(), serde_json::from_value(answer["texts"].clone()).unwrap())
    }

    /// Ends the client, which ends the server.
    fn end(mut self) {
        drop(self.to);
        assert!(self.process.wait().unwrap().success());
    }
}

fn python() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp/venv/bin/python")
}

fn installed() -> bool {
    let there = python().exists();
    let required = std::env::var_os("INSOMNIA_TESTS_REQUIRE_ALL").is_some_and(|all| all == "1");
    assert!(there || !required, "missing: run adapters/mcp/tests/setup.sh");
    if !there {
        // past the harness, which keeps what passing tests print to itself
        std::io::stderr().write_all(b"skipped: run adapters/mcp/tests/setup.sh for MCP's Python client\n").unwrap();
    }
    there
}

fn reminded(texts: &[String]) -> bool {
    let reminders = texts.iter().filter(|text| text.contains("<system-reminder>")).count();
    assert!(reminders <= 1 && !texts[0].contains("<system-reminder>"), "{texts:?}");
    reminders == 1
}

#[test]
fn a_session_end_to_end() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = &folder.path().join("made/by the server");

    let mut client = Client::start("auto", folder);
    let tools = client.ask(&json!(["tools"]));
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["TaskCreate", "TaskUpdate", "TaskList", "TaskGet"]);
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["subject", "description"]));
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], false);
    assert_eq!(tools[2]["annotations"]["readOnlyHint"], true);

    // ids follow the order of the calls, however many are under way
    let create = |number: usize| json!(["TaskCreate", {"subject": format!("step {number}"), "description": ""}]);
    let made = client.ask(&json!(["together", (1..=20).map(create).collect::<Vec<_>>()]));
    for number in 1..=20 {
        let text = made[number - 1]["texts"][0].as_str().unwrap();
        assert_eq!(text, format!(r#"{{"taskid":{number},"status":"pending","subject":"step {number}"}}"#));
    }

    let (failed, texts) = client.call("TaskUpdate", json!({"taskid": 70, "status": "done"}));
    assert!(failed && texts[0].starts_with("error: there is no task 70; active: 1, 2"), "{texts:?}");
    let refused = client.ask(&json!(["call", "Shell", {}]));
    assert!(refused["refused"].as_str().unwrap().contains("Shell"), "{refused}");

    // idle calls: due after two, then after three more
    let (_, texts) = client.call("TaskUpdate", json!({"taskid": "#1", "status": "in_progress"}));
    assert_eq!(texts, [r#"{"taskid":1,"status":"inprogress","subject":"step 1"}"#]);
    let get = |client: &mut Client| reminded(&client.call("TaskGet", json!({"taskid": 2})).1);
    assert_eq!([get(&mut client), get(&mut client), get(&mut client)], [false, true, false]);
    client.send(&json!(["die"]));
    assert!(client.from.next().is_none());
    client.process.wait().unwrap();

    let session = Session::read(folder).unwrap();
    assert_eq!((session.tasks().list().len(), session.damage().len()), (20, 0));
    assert_eq!(session.reminder_state().requests_since_last_reminder, Some(1));
    assert_eq!(session.items().iter().filter(|item| item.is_task_reminder()).count(), 1);

    // another process goes on in the middle of the cooldown
    let mut client = Client::start("legacy", folder);
    assert_eq!([get(&mut client), get(&mut client), get(&mut client)], [false, true, false]);
    let error = TaskServer::open(folder, Cadence::default()).unwrap_err().to_string();
    assert!(error.contains("in use"), "{error}");
    let (_, texts) = client.call("TaskList", json!({"status": "inprogress"}));
    assert!(texts[0].contains(r#""step 1""#) && !texts[0].contains(r#""step 2""#), "{texts:?}");
    let (_, texts) = client.call("TaskCreate", json!({"subject": "one more"}));
    assert_eq!(texts, [r#"{"taskid":21,"status":"pending","subject":"one more"}"#]);
    client.end();

    // what the client got is what stands in the session
    let session = Session::read(folder).unwrap();
    let resumed = TaskServer::open(folder, Cadence::default()).unwrap();
    assert_eq!(resumed.tasks().store().snapshot(), session.tasks().snapshot());
    assert_eq!(resumed.tasks().reminders().state(), session.reminder_state());
    assert_eq!(session.items().iter().filter(|item| item.is_task_reminder()).count(), 2);
}

#[test]
fn a_result_that_is_not_on_disk_is_not_given() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start("auto", folder.path());
    let create = |client: &mut Client, subject: &str| client.call("TaskCreate", json!({"subject": subject}));
    assert!(!create(&mut client, "one").0);

    let history = folder.path().join("history.json");
    let before = std::fs::read(&history).unwrap();
    std::fs::write(&history, [&before[..], b"x"].concat()).unwrap();
    let (failed, texts) = create(&mut client, "two");
    assert!(failed && texts.len() == 1 && texts[0].contains("changed by another writer"), "{texts:?}");
    assert!(texts[0].contains("do not repeat the call"), "{texts:?}");

    // the record goes with the next one
    std::fs::write(&history, before).unwrap();
    let (failed, texts) = create(&mut client, "three");
    assert!(!failed && texts[0].contains(r#""taskid":3"#), "{texts:?}");
    client.end();
    let subjects: Vec<_> =
        Session::read(folder.path()).unwrap().tasks().list().into_iter().map(|task| task.subject).collect();
    assert_eq!(subjects, ["one", "two", "three"]);
}

#[test]
fn a_folder_that_cannot_be_used_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let run = |inactivity: &str| {
        let mut server = Command::new(SERVER);
        server.args(["--inactivity", inactivity, "--session"]).arg(folder.path());
        let done = server.stdin(Stdio::null()).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let (code, told) = run("0");
    assert!(code == Some(1) && told.contains("at least 1"), "{told}");
    std::fs::write(folder.path().join("history.json"), "{}").unwrap();
    let (code, told) = run("8");
    assert!(code == Some(1) && told.contains("history.json"), "{told}");
    assert_eq!(std::fs::read_to_string(folder.path().join("history.json")).unwrap(), "{}");
}

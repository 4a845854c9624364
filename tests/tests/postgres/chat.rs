//! The chat binary on a session in Postgres.

use std::{
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::server::server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_keeps_its_session_in_postgres() {
    let server = server!();
    let binary = binary();
    let create = Reply::calls([("TaskCreate", json!({"subject": "Pack", "description": ""}))]);
    let model = ScriptedServer::start(vec![create, Reply::text("Noted."), Reply::text("Yes.")]).await.unwrap();
    let base_url = model.base_url();
    let session = format!("{}/chat-1", server.url());
    let chat = |words: &[&str]| -> Output {
        let mut command = Command::new(&binary);
        command.args(words).args(["--session", &session]).stdin(Stdio::null());
        tokio::task::block_in_place(|| command.output().unwrap())
    };
    let prompt =
        |text: &str| chat(&["--base-url", &base_url, "--api-key", "none", "--model", "gpt-5-mini", "-p", text]);

    for (text, answer) in [("plan", "Noted."), ("still there?", "Yes.")] {
        let output = prompt(text);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains(answer));
    }
    let printed = |command: &str| -> Vec<Value> { serde_json::from_slice(&chat(&[command]).stdout).unwrap() };
    assert_eq!(printed("tasks")[0]["subject"], "Pack");
    assert_eq!(printed("history").len(), 6);

    let report = chat(&["report"]);
    let page = String::from_utf8_lossy(&report.stdout).into_owned();
    assert!(report.status.success() && page.contains("Task 1 (pending): Pack"), "{report:?}");

    // in use elsewhere
    let held = server.sessions().open("chat-1", Default::default()).await.unwrap();
    let refused = prompt("and now?");
    assert_eq!(refused.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is in use by process"), "{refused:?}");
    drop(held);
}

/// The binary, built if need be.
fn binary() -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut build = Command::new(env!("CARGO"));
    let build = build.args(["build", "--quiet", "-p", "insomnia-tasks-examples", "--bin", "chat"]).current_dir(root);
    assert!(build.status().unwrap().success());
    // this test lies in target/<profile>/deps
    let deps = std::env::current_exe().unwrap();
    deps.ancestors().nth(3).unwrap().join("debug").join(format!("chat{}", std::env::consts::EXE_SUFFIX))
}

//! The chat binary against a real llama.cpp server with a real, if tiny, model.
//!
//! Runs where `tests/llama/setup.sh` has installed the server. Elsewhere it says that it is skipped, or fails where
//! `INSOMNIA_TESTS_REQUIRE_ALL=1` demands every test and `INSOMNIA_TESTS_SKIP_LLAMA` gives no reason for its absence.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests, where these are the failure

mod chat;
mod llama;
mod proxy;

use std::{io::Write, path::Path};

use insomnia_tasks::{
    session::{Entry, EntryBody, FileOptions, FileStore, Storage},
    wire::Dialect,
    worker::LearnedDialect,
};
use serde_json::value::to_raw_value;

use chat::Chat;
use llama::Llama;
use proxy::Proxy;

const MODEL: &str = "smollm2";

#[test]
fn chat_with_a_real_server() {
    if let Err(reason) = Llama::installed() {
        let excused = std::env::var("INSOMNIA_TESTS_SKIP_LLAMA").ok().filter(|excuse| !excuse.is_empty());
        let required = std::env::var_os("INSOMNIA_TESTS_REQUIRE_ALL").is_some_and(|all| all == "1");
        assert!(excused.is_some() || !required, "missing: {reason}");
        // past the harness, which keeps what passing tests print to itself
        writeln!(std::io::stderr(), "skipped: {}", excused.unwrap_or(reason)).unwrap();
        return;
    }
    for template in ["own", "strict"] {
        let server = Llama::start(template);
        for stream in [true, false] {
            turns_end_well_and_the_session_resumes(&server, stream);
        }
        if template == "strict" {
            a_refusal_is_not_noticed(&server);
            a_fixed_placement_says_what_would_work(&server);
        }
    }
}

fn turns_end_well_and_the_session_resumes(server: &Llama, stream: bool) {
    let folder = tempfile::tempdir().unwrap();
    seed_a_task(folder.path());
    let proxy = Proxy::start(server.address());
    let chat = Chat::new(folder.path(), &proxy.base_url(), stream);
    let (ended, out, errors) = chat.prompt(&["Say hello.", "And now?"], &[]);
    assert_eq!(ended, Some(0), "{errors}");
    assert!(!out.trim().is_empty());
    let history = chat.history();
    assert!(history.contains("<system-reminder>"), "{history}");
    assert!(proxy.recorded().contains("<system-reminder>"), "it was in a request");

    let (ended, _, errors) = chat.prompt(&["Go on."], &[]);
    assert_eq!(ended, Some(0), "{errors}");
    let resumed = chat.history();
    assert!(resumed.len() > history.len() && resumed.contains("Go on."), "{resumed}");
}

/// A session that was told of a server where late system messages work, on one that raises on them.
fn a_refusal_is_not_noticed(server: &Llama) {
    let folder = tempfile::tempdir().unwrap();
    seed_a_task(folder.path());
    seed_dialect(folder.path());
    let proxy = Proxy::start(server.address());
    let chat = Chat::new(folder.path(), &proxy.base_url(), true);
    let (ended, out, errors) = chat.prompt(&["Say hello.", "And now?"], &[]);
    assert_eq!(ended, Some(0), "{errors}");
    assert!(!out.trim().is_empty());
    let sent = proxy.recorded();
    assert!(sent.contains(r#"{"role":"system","content":"<system-reminder>"#), "it was refused first: {sent}");
    let record = std::fs::read_to_string(folder.path().join("history.json")).unwrap();
    assert!(record.contains(r#""late_system":"merge""#), "{record}");

    // the resumed session starts right
    let proxy = Proxy::start(server.address());
    let (ended, _, errors) = Chat::new(folder.path(), &proxy.base_url(), false).prompt(&["Go on."], &[]);
    assert_eq!(ended, Some(0), "{errors}");
    let sent = proxy.recorded();
    assert!(sent.contains("<system-reminder>") && !sent.contains(r#"{"role":"system","content":"<system-reminder>"#));
}

fn a_fixed_placement_says_what_would_work(server: &Llama) {
    let folder = tempfile::tempdir().unwrap();
    seed_a_task(folder.path());
    let chat = Chat::new(folder.path(), &format!("http://{}/v1", server.address()), true);
    let (ended, _, errors) = chat.prompt(&["Say hello.", "And now?"], &["--reminder", "system"]);
    assert_eq!(ended, Some(1), "{errors}");
    assert!(errors.contains("--reminder merge"), "{errors}");
}

/// A session with an open task: the model is too small to make one.
fn seed_a_task(folder: &Path) {
    use insomnia_tasks::Pod;
    use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let create = serde_json::json!({"subject": "Tidy up", "description": ""});
        let script = vec![Reply::calls([("TaskCreate", create)]), Reply::text("Noted.")];
        let server = ScriptedServer::start(script).await.unwrap();
        let config = async_openai::config::OpenAIConfig::new().with_api_base(server.base_url()).with_api_key("none");
        let client = async_openai::Client::with_config(config);
        let pod = Pod::builder(&client, MODEL).instructions("Be brief.").session(folder).build().await.unwrap();
        pod.run("Plan it.").await.unwrap();
    });
}

fn seed_dialect(folder: &Path) {
    let learned = LearnedDialect::new("http://127.0.0.1/v1", MODEL, Dialect::preset("openai").unwrap());
    let opened = FileStore::open(folder, FileOptions::new()).unwrap();
    let body = EntryBody::Dialect(to_raw_value(&learned).unwrap());
    opened.store.append(&Entry::new(opened.session.next_seq, 1, body));
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(opened.store.flush()).unwrap();
}

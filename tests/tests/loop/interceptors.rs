//! Plugins of the loop, built on the public trait alone.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use insomnia_tasks::{
    Interceptor, Item, ItemKind, ToolCall, ToolError, ToolOutput,
    interceptor::{RequestContext, ToolGate},
    worker::TurnEnd,
};
use insomnia_tasks_examples::scripted::{Gate, Reply, ScriptedServer};
use serde_json::json;

use crate::support::{assert_conversation, cancel, folder, pod, refusal, sent, tool};

type Notes = Arc<Mutex<Vec<String>>>;

/// Notes what it is told, under its name.
struct Recorder {
    name: &'static str,
    notes: Notes,
    appends: bool,
    denies: Option<&'static str>,
}

impl Recorder {
    fn new(name: &'static str, notes: &Notes) -> Self {
        Self { name, notes: notes.clone(), appends: false, denies: None }
    }

    fn note(&self, text: impl std::fmt::Display) {
        self.notes.lock().unwrap().push(format!("{} {text}", self.name));
    }
}

#[async_trait]
impl Interceptor for Recorder {
    async fn pending_history_appends(&self, request: &RequestContext<'_>) -> Vec<Item> {
        let (turn, number, items) = (request.turn(), request.number(), request.history().len());
        self.note(format_args!("asked in turn {turn} request {number} with {items} items"));
        if !self.appends {
            return Vec::new();
        }
        ["first", "second"].map(|which| Item::notification(format!("{} {which} {number}", self.name))).into()
    }

    fn on_commit(&self, item: &Item) {
        self.note(format_args!("saw {}", item.json()));
    }

    async fn pre_tool_call(&self, call: &ToolCall) -> ToolGate {
        self.note(format_args!("before {}", call.name));
        match self.denies {
            Some(name) if name == call.name => ToolGate::Deny(format!("{} forbids it; ask the user", self.name)),
            _ => ToolGate::Continue,
        }
    }

    async fn post_tool_call(&self, call: &ToolCall, result: Result<&ToolOutput, &ToolError>) {
        let result = result.map_or_else(|error| format!("failed: {error}"), |output| output.text().to_owned());
        self.note(format_args!("after {}: {result}", call.name));
    }

    async fn on_turn_end(&self, end: &TurnEnd) {
        self.note(format_args!("end {end:?}"));
    }
}

fn taken(notes: &Notes) -> Vec<String> {
    std::mem::take(&mut *notes.lock().unwrap())
}

#[tokio::test]
async fn items_are_committed_in_order_and_go_with_the_very_request() {
    for stream in [true, false] {
        let notes = Notes::default();
        let appending = |name| Recorder { appends: true, ..Recorder::new(name, &notes) };
        let calls = Reply::calls([("TaskList", json!({})), ("TaskList", json!({}))]);
        let server = ScriptedServer::start(vec![calls, Reply::text("done")]).await.unwrap();
        let builder = pod(&server, stream).reminder("system".parse().unwrap());
        let pod = builder.interceptor(appending("a")).interceptor(appending("b")).build().await.unwrap();
        pod.run("go").await.unwrap();
        let requests = server.requests();
        assert_conversation(&requests);
        let appended = |number: usize| {
            let sent = sent(&requests[number - 1]);
            let end = sent.messages.len();
            (end - 4..end).map(|at| sent.message(at)["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(appended(1), ["a first 1", "a second 1", "b first 1", "b second 1"]);
        assert_eq!(appended(2), ["a first 2", "a second 2", "b first 2", "b second 2"]);
        assert_eq!(sent(&requests[1]).roles(), "ussssattssss");
        assert_eq!(pod.history().len(), 13);
        // the second is asked when what the first one appended is committed
        let asked: Vec<_> = taken(&notes).into_iter().filter(|note| note.contains("asked")).collect();
        assert_eq!(
            asked,
            [
                "a asked in turn 1 request 1 with 1 items",
                "b asked in turn 1 request 1 with 3 items",
                "a asked in turn 1 request 2 with 8 items",
                "b asked in turn 1 request 2 with 10 items"
            ]
        );
    }
}

#[tokio::test]
async fn the_reason_of_a_denial_is_the_result_and_the_tool_does_not_run() {
    for stream in [true, false] {
        let (notes, ran) = (Notes::default(), Arc::new(Mutex::new(0)));
        let runs = ran.clone();
        let rm = tool("Rm", move |_| {
            *runs.lock().unwrap() += 1;
            async { Ok(ToolOutput::new("gone")) }
        });
        let denying = Recorder { denies: Some("Rm"), ..Recorder::new("a", &notes) };
        let calls = Reply::calls([("Rm", json!({})), ("TaskList", json!({}))]);
        let server = ScriptedServer::start(vec![calls, Reply::text("done")]).await.unwrap();
        let builder = pod(&server, stream).tools(rm).interceptor(denying).interceptor(Recorder::new("b", &notes));
        let pod = builder.build().await.unwrap();
        pod.run("go").await.unwrap();
        let results = sent(&server.requests()[1]).results();
        assert_eq!(results[0], "error: denied: a forbids it; ask the user");
        assert!(results[1].starts_with(r#"{"tasks":[]"#));
        assert_eq!(*ran.lock().unwrap(), 0);
        // task tools come first; after a denial nobody else is asked, and there is nothing to see afterwards
        let tools: Vec<_> = taken(&notes).into_iter().filter(|note| note[2..].starts_with(['b', 'a'])).collect();
        let tools: Vec<_> = tools.iter().filter(|note| !note.contains("asked")).map(String::as_str).collect();
        let list = r#"after TaskList: {"tasks":[],"counts":{"pending":0,"inprogress":0,"completed":0,"deleted":0}}"#;
        assert_eq!(
            tools,
            ["a before TaskList", "b before TaskList", &format!("a {list}"), &format!("b {list}"), "a before Rm"]
        );
    }
}

#[tokio::test]
async fn what_came_of_a_call_is_told_afterwards() {
    let notes = Notes::default();
    let fails = tool("Fails", |_| async { Err(ToolError::new("no")) });
    let calls = Reply::calls([("Fails", json!({})), ("Nobody", json!({})), ("TaskGet", json!("{cut"))]);
    let server = ScriptedServer::start(vec![calls, Reply::text("done")]).await.unwrap();
    let pod = pod(&server, true).tools(fails).interceptor(Recorder::new("a", &notes)).build().await.unwrap();
    pod.run("go").await.unwrap();
    let after: Vec<_> = taken(&notes).into_iter().filter(|note| note.starts_with("a after")).collect();
    // what did not run, for want of a tool or of arguments, has no afterwards
    assert_eq!(after, ["a after Fails: failed: no"]);
}

#[tokio::test]
async fn the_end_of_a_turn_is_told_and_that_of_a_dropped_one_at_the_next() {
    let (notes, gate) = (Notes::default(), Gate::new());
    let replies = vec![Reply::text("one"), refusal(400, "no"), Reply::text("late").hold(&gate), Reply::text("four")];
    let server = ScriptedServer::start(replies).await.unwrap();
    let pod = pod(&server, true).interceptor(Recorder::new("a", &notes)).build().await.unwrap();
    let ends = || taken(&notes).into_iter().filter(|note| note.starts_with("a end")).collect::<Vec<_>>();
    pod.run("1").await.unwrap();
    assert_eq!(ends(), ["a end Answered"]);
    let error = pod.run("2").await.unwrap_err();
    assert_eq!(ends(), [format!("a end {:?}", TurnEnd::Failed(error.to_string()))]);
    cancel(&pod, "3", gate.reached()).await;
    assert_eq!(ends(), [""; 0]);
    pod.run("4").await.unwrap();
    assert_eq!(ends(), ["a end Cancelled", "a end Answered"]);
}

#[tokio::test]
async fn every_commit_is_seen_once_and_again_when_a_session_is_resumed() {
    let (notes, folder) = (Notes::default(), folder());
    let calls = Reply::calls([("TaskCreate", json!({"subject": "x", "description": ""}))]);
    let server = ScriptedServer::start(vec![calls, Reply::text("done"), Reply::text("more")]).await.unwrap();
    let open = || {
        let watching = Recorder { appends: true, ..Recorder::new("a", &notes) };
        pod(&server, true).session(folder.path()).interceptor(watching).build()
    };
    let seen = || {
        let notes = taken(&notes);
        notes.iter().filter_map(|note| note.strip_prefix("a saw ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let jsons = |items: &[Item]| items.iter().map(|item| item.json().to_owned()).collect::<Vec<_>>();
    let pod = open().await.unwrap();
    pod.run("go").await.unwrap();
    let before = pod.history();
    assert_eq!(seen(), jsons(&before));
    let kinds: Vec<_> = before.iter().map(Item::kind).collect();
    use ItemKind::{Assistant, Notification, Tool, User};
    assert_eq!(kinds, [User, Notification, Notification, Assistant, Tool, Notification, Notification, Assistant]);
    drop(pod);
    let pod = open().await.unwrap();
    assert_eq!(seen(), jsons(&before));
    pod.run("on").await.unwrap();
    assert_eq!(seen(), jsons(&pod.history()[before.len()..]));
}

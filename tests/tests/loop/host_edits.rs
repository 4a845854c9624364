//! What the host changes in the tasks: kept in the session in the order in which it happened, and nothing to the counters.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use insomnia_tasks::{
    Interceptor, ToolCall, ToolError, ToolOutput, Toolbox,
    reminder::Cadence,
    session::Session,
    task::{TaskId, TaskPatch, TaskStatus, TaskStore, tools::TaskToolbox},
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::support::{Latch, folder, pod, tool};

const FIRST: TaskId = TaskId::FIRST;

fn create() -> (&'static str, Value) {
    ("TaskCreate", json!({"subject": "made by the model", "description": "d"}))
}

fn subject(text: &str) -> TaskPatch {
    TaskPatch { subject: Some(text.to_owned()), ..TaskPatch::default() }
}

#[tokio::test]
async fn edits_of_the_host_reset_no_counter() {
    let server =
        ScriptedServer::start(vec![Reply::calls([create()]), Reply::text("."), Reply::text("."), Reply::text(".")]);
    let server = server.await.unwrap();
    let pod = pod(&server, true).cadence(Cadence::new(2, 5).unwrap()).build().await.unwrap();
    pod.run("one").await.unwrap();
    let before = pod.reminders().state();
    pod.tasks().update(FIRST, TaskStatus::InProgress).unwrap();
    pod.tasks().create("made by the host", "").unwrap();
    assert_eq!(pod.reminders().state(), before);
    pod.run("two").await.unwrap();
    pod.run("three").await.unwrap();
    let text = server.requests()[3].text();
    let lines = r"- 1 [inprogress] made by the model\n- 2 [pending] made by the host\n";
    assert!(text.contains(lines), "{text}");
}

#[tokio::test]
async fn edits_of_the_host_are_in_the_session_after_a_resume() {
    let folder = folder();
    let server = ScriptedServer::start(vec![Reply::calls([create()]), Reply::text(".")]).await.unwrap();
    let open = || pod(&server, true).session(folder.path()).build();
    let pod = open().await.unwrap();
    pod.tasks().create("before the first turn", "").unwrap();
    pod.run("one").await.unwrap();
    pod.tasks().update(TaskId::new(2).unwrap(), subject("after the turn")).unwrap();
    pod.tasks().create("after the last turn", "long").unwrap();
    pod.tasks().update(FIRST, TaskStatus::Deleted).unwrap();
    let tasks = pod.tasks().snapshot();
    drop(pod);
    let pod = open().await.unwrap();
    assert_eq!(pod.tasks().snapshot(), tasks);
    assert_eq!(pod.tasks().create("next", "").unwrap().taskid, TaskId::new(4).unwrap());
}

#[tokio::test]
async fn a_handle_to_the_tasks_does_not_keep_the_session_open() {
    let folder = folder();
    let server = ScriptedServer::start(vec![Reply::calls([create()]), Reply::text(".")]).await.unwrap();
    let open = || pod(&server, true).session(folder.path()).build();
    let pod = open().await.unwrap();
    pod.run("one").await.unwrap();
    let kept = pod.tasks().clone();
    drop(pod);
    kept.update(FIRST, TaskStatus::Deleted).unwrap();
    assert_eq!(open().await.unwrap().tasks().get(FIRST).unwrap().status, TaskStatus::Pending);
}

/// A sub-agent's tools on the session's tasks: there is no call for them in the session's own history.
#[tokio::test]
async fn what_the_task_tools_change_outside_the_sessions_own_calls_is_an_edit_of_the_host() {
    let folder = folder();
    let store: Arc<Mutex<Option<TaskStore>>> = Arc::default();
    let tasks = store.clone();
    let agent = tool("SubAgent", move |_| {
        let tasks = tasks.lock().unwrap().clone().unwrap();
        let call = |name: &str, arguments: Value| {
            TaskToolbox::decode(name, &arguments.to_string()).unwrap().apply(&tasks).unwrap()
        };
        call("TaskUpdate", json!({"taskid": 1, "subject": "changed by a sub-agent"}));
        let made = call("TaskCreate", json!({"subject": "made by a sub-agent", "description": ""}));
        async move { Ok(ToolOutput::new(made)) }
    });
    let calls = [("SubAgent", json!({})), create(), ("TaskUpdate", json!({"taskid": 1, "status": "done"}))];
    let server = ScriptedServer::start(vec![Reply::calls(calls), Reply::text(".")]).await.unwrap();
    let pod = pod(&server, true).tools(agent).session(folder.path()).build().await.unwrap();
    *store.lock().unwrap() = Some(pod.tasks().clone());
    pod.run("go").await.unwrap();
    let outside = TaskToolbox::decode("TaskUpdate", r#"{"taskid":2,"status":"deleted"}"#).unwrap();
    outside.apply(pod.tasks()).unwrap();
    let live = pod.tasks().snapshot();
    assert_eq!((live.tasks.len(), live.tasks[&FIRST].status), (2, TaskStatus::Completed));
    drop(pod);
    assert_eq!(Session::read(folder.path()).unwrap().tasks().snapshot(), live);
}

/// Live tasks equal the folded ones when the host edits while these calls run and the waiting tool ends with this result.
async fn edit_while_tools_run(calls: Vec<(&'static str, Value)>, result: &'static str) {
    for stream in [true, false] {
        let (folder, latch) = (folder(), Arc::new(Latch::new()));
        let waits = latch.clone();
        let slow = tool("Slow", move |_| {
            let latch = waits.clone();
            async move {
                latch.pass().await;
                Ok(ToolOutput::new(result))
            }
        });
        let replies = vec![Reply::calls([create()]), Reply::calls(calls.clone()), Reply::text(".")];
        let server = ScriptedServer::start(replies).await.unwrap();
        let pod = pod(&server, stream).tools(slow).session(folder.path()).build().await.unwrap();
        let edit = async {
            latch.reached().await;
            pod.tasks().update(FIRST, subject("edited by the host")).unwrap();
            pod.tasks().create("made by the host", "").unwrap();
            latch.open();
        };
        let (turn, ()) = tokio::join!(pod.run("go"), edit);
        turn.unwrap();
        let live = pod.tasks().snapshot();
        assert_eq!(live.tasks[&FIRST].subject, "edited by the host");
        drop(pod);
        assert_eq!(Session::read(folder.path()).unwrap().tasks().snapshot(), live, "{calls:?} {result}");
    }
}

#[tokio::test]
async fn an_edit_while_tools_run_comes_after_the_models_change_of_the_same_task() {
    let update = || ("TaskUpdate", json!({"taskid": 1, "subject": "changed by the model"}));
    let slow = || ("Slow", json!({}));
    for calls in
        [vec![slow()], vec![slow(), update()], vec![update(), slow()], vec![slow(), update(), create(), update()]]
    {
        edit_while_tools_run(calls, "done").await;
    }
}

#[tokio::test]
async fn results_of_other_tools_that_name_a_task_are_not_taken_for_changes() {
    let update = || ("TaskUpdate", json!({"taskid": 1, "subject": "changed by the model"}));
    let get = || ("TaskGet", json!({"taskid": 1}));
    let slow = || ("Slow", json!({}));
    for calls in [vec![slow(), update()], vec![slow(), get(), update()], vec![get(), slow(), update(), get()]] {
        edit_while_tools_run(calls, r#"{"taskid":1,"status":"pending","subject":"of another list"}"#).await;
    }
}

/// Edits each task right before and after the model changes it.
struct Meddler(Arc<Mutex<Option<TaskStore>>>);

impl Meddler {
    fn edit(&self, text: &str) {
        let tasks = self.0.lock().unwrap().clone().unwrap();
        if tasks.get(FIRST).is_some() {
            tasks.update(FIRST, subject(text)).unwrap();
        }
    }
}

#[async_trait]
impl Interceptor for Meddler {
    async fn pre_tool_call(&self, call: &ToolCall) -> insomnia_tasks::interceptor::ToolGate {
        self.edit(&format!("before {}", call.id));
        insomnia_tasks::interceptor::ToolGate::Continue
    }

    async fn post_tool_call(&self, call: &ToolCall, _: Result<&ToolOutput, &ToolError>) {
        self.edit(&format!("after {}", call.id));
    }
}

#[tokio::test]
async fn edits_between_the_calls_of_one_answer_keep_their_places() {
    let folder = folder();
    let update = |text: &str| ("TaskUpdate", json!({"taskid": 1, "description": text, "subject": text}));
    let echo = tool("Echo", |_| async { Ok(ToolOutput::new("{\"taskid\":1}")) });
    let calls = [("Echo", json!({})), create(), update("one"), ("TaskGet", json!({"taskid": 1})), update("two")];
    let server = ScriptedServer::start(vec![Reply::calls(calls), Reply::text(".")]).await.unwrap();
    let store = Arc::new(Mutex::new(None));
    let builder = pod(&server, true).tools(echo).interceptor(Meddler(store.clone())).session(folder.path());
    let pod = builder.build().await.unwrap();
    *store.lock().unwrap() = Some(pod.tasks().clone());
    pod.run("go").await.unwrap();
    let live = pod.tasks().snapshot();
    assert_eq!((live.tasks[&FIRST].subject.as_str(), live.tasks[&FIRST].description.as_str()), ("after call_1", "two"));
    drop(pod);
    assert_eq!(Session::read(folder.path()).unwrap().tasks().snapshot(), live);
}

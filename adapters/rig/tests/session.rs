//! Scripted sessions in rig's loop, with rig's own client, over HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests, where these are the failure

use insomnia_tasks::{reminder::Cadence, task::TaskStatus};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use insomnia_tasks_rig::RigTasks;
use insomnia_tasks_tests::Case;
use rig_agent::{
    agent::Agent,
    prelude::{AgentClientExt, Prompt},
    tool::{DynamicTool, ToolOutput},
};
use rig_core::{message::Message, providers::openai};
use serde_json::{Value, json};

/// A user's own tool whose result is no text.
fn look() -> DynamicTool {
    let parameters = json!({"type": "object", "properties": {}});
    DynamicTool::new("Look", "Look around.", parameters, |_, _| {
        Box::pin(async { Ok(ToolOutput::json(json!({"seen": 1}))) })
    })
}

fn agent(server: &ScriptedServer, tasks: &RigTasks) -> Agent {
    let client = openai::CompletionsClient::builder().api_key("none").base_url(server.base_url()).build().unwrap();
    client.agent("scripted").dynamic_tools(tasks.tools()).dynamic_tool(look()).add_hook(tasks.clone()).build()
}

/// One turn as a program with rig has it; a failed one goes on from what was sent.
async fn turn(agent: &Agent, tasks: &RigTasks, history: &mut Vec<Message>, prompt: &str) -> Result<String, String> {
    let request = agent.prompt(tasks.prompt(prompt)).history(history.clone()).max_turns(64).extended_details();
    match request.await {
        Ok(response) => {
            history.extend(response.messages.unwrap());
            Ok(response.output)
        }
        Err(error) => {
            *history = tasks.sent();
            Err(error.to_string())
        }
    }
}

fn reminders(request: &RecordedRequest) -> usize {
    request.text().matches("<system-reminder>").count()
}

#[tokio::test]
async fn reminders_come_when_they_should_and_stay_in_the_history() {
    for case in Case::all() {
        let server = ScriptedServer::start(case.replies()).await.unwrap();
        let (tasks, mut history) = (RigTasks::new(case.cadence()), Vec::new());
        let agent = agent(&server, &tasks);
        for (number, steps) in case.turns.iter().enumerate() {
            let ended = turn(&agent, &tasks, &mut history, &format!("prompt {number}")).await;
            assert_eq!(ended.is_err(), Case::fails(steps), "{}: {ended:?}", case.name);
        }
        let requests = server.requests();
        assert_eq!(requests.iter().map(reminders).collect::<Vec<_>>(), case.reminders_in_request, "{}", case.name);
        assert!(requests.windows(2).all(|pair| pair[1].messages().starts_with(&pair[0].messages())), "{}", case.name);

        // rig's messages are all that a later process needs
        let saved: Vec<Message> = serde_json::from_str(&serde_json::to_string(&history).unwrap()).unwrap();
        let resumed = RigTasks::new(case.cadence());
        resumed.resume(&saved).unwrap();
        let counters = |tasks: &RigTasks| tasks.tasks().reminders().state();
        assert_eq!(counters(&resumed), counters(&tasks), "{}", case.name);
        assert_eq!(resumed.tasks().store().list(), tasks.tasks().store().list(), "{}", case.name);
    }
}

#[tokio::test]
async fn a_session_end_to_end() {
    let create = |subject: &str| ("TaskCreate", json!({"subject": subject, "description": ""}));
    let server = ScriptedServer::start(vec![
        Reply::calls([create("Look around"), create("Tell")]),
        Reply::calls([("TaskUpdate", json!({"taskid": 1, "status": "in_progress"}))]),
        Reply::calls([("TaskUpdate", json!({"taskid": 7, "status": "done"}))]),
        Reply::calls([("TaskGet", json!({"taskid": "#2"})), ("Look", json!({}))]),
        Reply::text("I looked."),
        Reply::text("Well?"),
    ]);
    let server = server.await.unwrap();
    let (tasks, mut history) = (RigTasks::new(Cadence::new(1, 1).unwrap()), Vec::new());
    let agent = agent(&server, &tasks);
    assert_eq!(turn(&agent, &tasks, &mut history, "Look around.").await.as_deref(), Ok("I looked."));
    assert_eq!(turn(&agent, &tasks, &mut history, "And?").await.as_deref(), Ok("Well?"));

    let requests = server.requests();
    assert_eq!(requests[0].tool_names(), ["TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "Look"]);
    let last = requests[5].messages();
    let contents: Vec<_> = last.iter().filter(|message| message["role"] == "tool").map(text).collect();
    assert_eq!(
        contents[..2],
        [
            r#"{"taskid":1,"status":"pending","subject":"Look around"}"#,
            r#"{"taskid":2,"status":"pending","subject":"Tell"}"#,
        ]
    );
    assert!(contents[3].starts_with("error: ") && contents[3].contains("active: 1, 2"), "{}", contents[3]);
    // behind the last result of its round, and behind a fresh prompt
    assert!(!contents[4].contains("<system-reminder>") && contents[5].starts_with(r#"{"seen":1}"#), "{contents:?}");
    assert!(contents[5].ends_with("</system-reminder>"), "{}", contents[5]);
    let prompt = text(&last[last.len() - 1]);
    assert!(prompt.starts_with("And?\n\n<system-reminder>"), "{prompt}");
    assert_eq!(tasks.tasks().store().list()[0].status, TaskStatus::InProgress);
}

/// A message's text, be it a string or parts.
fn text(message: &Value) -> String {
    let parts = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let parts = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    message["content"].as_str().map_or(parts, str::to_owned)
}

#[test]
fn two_sessions_share_nothing() {
    let [one, other] = [(); 2].map(|()| RigTasks::new(Cadence::default()));
    one.tasks().store().create("mine", "").unwrap();
    assert!(other.tasks().store().list().is_empty());
    assert_eq!(one.prompt("hi"), "hi");
}

//! Two processes alternate turns on one session, each by taking it over: the history is one conversation, and the
//! reminders fall as they would in one process.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{
    Pod,
    reminder::Cadence,
    session::postgres::{PostgresOptions, PostgresSessions},
};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::server::server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_of_two_processes_are_one_conversation_with_reminders_where_they_belong() {
    let server = server!();
    let cases: Vec<Value> = serde_json::from_str(include_str!("../../data/reminder.json")).unwrap();
    let mut processes = [Process::start(&server.url()), Process::start(&server.url())];
    for (number, case) in cases.iter().enumerate() {
        let case_name = case["name"].as_str().unwrap();
        let turns = case["turns"].as_array().unwrap();
        let steps: Vec<String> = turns.iter().flat_map(|turn| turn.as_array().unwrap()).map(text).collect();
        let script = steps.clone();
        let model =
            ScriptedServer::start(move |_: &RecordedRequest, number: usize| reply(&script[number])).await.unwrap();
        for (turn, steps) in turns.iter().enumerate() {
            let order = json!({
                "session": format!("alternating-{number}"), "model": model.base_url(), "prompt": format!("turn {turn}"),
                "inactivity": case["inactivity"], "cooldown": case["cooldown"],
            });
            let fails = steps.as_array().unwrap().iter().any(|step| step == "X");
            let said = processes[turn % 2].order(&order);
            assert_eq!(said.starts_with("@failed"), fails, "{case_name}, turn {turn}: {said}");
        }

        let requests = model.requests();
        let reminders: Vec<_> =
            requests.iter().map(|request| request.text().matches("<system-reminder>").count()).collect();
        assert_eq!(json!(reminders), case["reminders_in_request"], "{case_name}");
        for pair in requests.windows(2) {
            assert!(pair[1].messages().starts_with(&pair[0].messages()), "{case_name}: the history was rewritten");
        }
        let stored = server.sessions().read(&format!("alternating-{number}")).await.unwrap();
        let items = stored.items().iter().map(|item| serde_json::from_str(item.json()).unwrap());
        check_conversation(case_name, &items.collect::<Vec<Value>>());
        check_conversation(case_name, &requests.last().unwrap().messages());
    }
}

/// Every call is answered once, right behind its message, and every prompt is there once.
fn check_conversation(case: &str, messages: &[Value]) {
    let mut open: Vec<String> = Vec::new();
    let mut prompts = 0;
    for message in messages {
        match message["role"].as_str().unwrap() {
            "tool" => {
                let answered = open.iter().position(|id| message["tool_call_id"] == id.as_str());
                open.remove(answered.unwrap_or_else(|| panic!("{case}: a result without a call")));
            }
            role => {
                assert!(open.is_empty(), "{case}: calls without a result before {message}");
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                open = calls.map(|call| text(&call["id"])).collect();
                if role == "user" {
                    // a reminder may be merged into it
                    assert!(text(&message["content"]).starts_with(&format!("turn {prompts}")), "{case}: {message}");
                    prompts += 1;
                }
            }
        }
    }
    assert!(open.is_empty(), "{case}: calls without a result at the end");
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// What the model answers at a step of the script.
fn reply(step: &str) -> Reply {
    let create = || ("TaskCreate", json!({"subject": "Water the plants", "description": ""}));
    let update =
        |taskid: &str, status: &str| Reply::calls([("TaskUpdate", json!({"taskid": taskid, "status": status}))]);
    match step.split(':').collect::<Vec<_>>()[..] {
        ["C"] => Reply::calls([create()]),
        ["CC"] => Reply::calls([create(), create()]),
        ["U", taskid, status] => update(taskid, status),
        ["B"] => update("9999", "completed"),
        ["I"] => Reply::calls([("TaskList", json!({}))]),
        ["T"] => Reply::text("Done."),
        ["X"] => Reply::error(400, json!({"error": {"message": "no", "type": "invalid_request_error"}})),
        _ => panic!("unknown step {step}"),
    }
}

/// A second run of this program, which does what [`child`] does.
pub(crate) struct Process {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

const DATABASE: &str = "INSOMNIA_PG_CHILD";

impl Process {
    pub(crate) fn start(url: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["two_processes::child", "--exact", "--ignored", "--nocapture"]).env(DATABASE, url);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (orders, answers) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, orders, answers }
    }

    /// Has it begin a turn.
    pub(crate) fn begin(&mut self, order: &Value) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
    }

    fn order(&mut self, order: &Value) -> String {
        self.begin(order);
        loop {
            let mut line = String::new();
            assert!(self.answers.read_line(&mut line).unwrap() > 0, "the other process ended");
            // the test harness prints too
            if let Some(at) = line.find('@') {
                return line[at..].to_owned();
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.orders.take());
        self.child.wait().unwrap();
    }
}

/// Runs the turns that it is told to, each in a pod of its own that takes the session over. None is ever closed.
#[test]
#[ignore = "this is the other process of the test above"]
fn child() {
    let Ok(url) = std::env::var(DATABASE) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sessions = PostgresSessions::connect(&url).unwrap();
    // one for all, for each reads the system's certificates
    let http = reqwest::Client::new();
    let mut pods = Vec::new();
    for line in std::io::stdin().lines() {
        let order: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let number = |key: &str| u32::try_from(order[key].as_u64().unwrap()).unwrap();
        let outcome = runtime.block_on(async {
            let options = PostgresOptions::new().take_over(true);
            let config = OpenAIConfig::new().with_api_base(text(&order["model"])).with_api_key("none");
            let pod = Pod::builder(&Client::build(http.clone(), config), "gpt-5-mini")
                .http_client(http.clone())
                .cadence(Cadence::new(number("inactivity"), number("cooldown")).unwrap())
                .session_in_postgres(&sessions, text(&order["session"]), options)
                .build()
                .await
                .unwrap();
            let outcome = pod.run(text(&order["prompt"])).await;
            pods.push(pod);
            outcome
        });
        match outcome {
            Ok(_) => println!("@ok"),
            Err(error) => println!("@failed {error}"),
        }
    }
    // not released: as if the process had been killed
    std::mem::forget(pods);
}

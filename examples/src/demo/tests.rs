//! The demo in a small agent: real HTTP, real tools, and the reminder's rule in a few lines.

use std::time::Duration;

use serde_json::{Value, json};

use super::ForgetfulModel;
use crate::{scripted::ScriptedServer, tools::Workspace};

#[derive(Clone, Copy, PartialEq)]
enum Form {
    System,
    MergedIntoTool,
    Off,
}

struct Agent {
    server: ScriptedServer,
    http: reqwest::Client,
    workspace: Workspace,
    form: Form,
    messages: Vec<Value>,
    tasks: Vec<(u64, String)>,
    idle: usize,
    since_reminder: usize,
}

impl Agent {
    async fn new(form: Form) -> Self {
        let server = ScriptedServer::start(ForgetfulModel::with_pace(Duration::ZERO)).await.unwrap();
        let workspace = Workspace::new(env!("CARGO_MANIFEST_DIR")).unwrap();
        let http = reqwest::Client::new();
        Self { server, http, workspace, form, messages: Vec::new(), tasks: Vec::new(), idle: 0, since_reminder: 99 }
    }

    /// Runs a turn; returns its last text.
    async fn prompt(&mut self, text: &str) -> String {
        self.messages.push(json!({"role": "user", "content": text}));
        loop {
            self.remind();
            let answer = self.ask().await;
            self.messages.push(answer.clone());
            self.idle += 1;
            self.since_reminder += 1;
            let Some(calls) = answer["tool_calls"].as_array() else {
                return answer["content"].as_str().unwrap().to_owned();
            };
            for call in calls {
                let arguments = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
                let result = self.run(call["function"]["name"].as_str().unwrap(), &arguments).await;
                self.messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result}));
            }
        }
    }

    fn remind(&mut self) {
        let open = self.tasks.iter().filter(|(_, status)| status != "completed");
        let lines: String = open.map(|(id, status)| format!("- {id} [{status}] of 42\n")).collect();
        if lines.is_empty() || self.idle < 8 || self.since_reminder < 8 || self.form == Form::Off {
            return;
        }
        self.since_reminder = 0;
        let block = format!("<system-reminder>\nAutomatic, 1 note.\n{lines}Record changes.\n</system-reminder>");
        let last = self.messages.last_mut().unwrap();
        if self.form == Form::System {
            self.messages.push(json!({"role": "system", "content": block}));
        } else {
            last["content"] = json!(format!("{}\n\n{block}", last["content"].as_str().unwrap()));
        }
    }

    async fn ask(&self) -> Value {
        let names = ["TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "ListFiles", "ReadFile"];
        let tools: Vec<_> = names.iter().map(|name| json!({"type": "function", "function": {"name": name}})).collect();
        let body = json!({"model": "demo", "messages": self.messages, "tools": tools});
        let url = format!("{}/chat/completions", self.server.base_url());
        let response = self.http.post(url).body(body.to_string()).send().await.unwrap();
        let mut body: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        body["choices"][0]["message"].take()
    }

    async fn run(&mut self, name: &str, arguments: &Value) -> String {
        match name {
            "TaskCreate" => {
                self.idle = 0;
                self.tasks.push((self.tasks.len() as u64 + 1, "pending".to_owned()));
                json!({"taskid": self.tasks.len(), "status": "pending", "subject": arguments["subject"]}).to_string()
            }
            "TaskUpdate" => {
                self.idle = 0;
                let task = self.tasks.iter_mut().find(|(id, _)| arguments["taskid"] == *id).unwrap();
                task.1 = arguments["status"].as_str().unwrap().to_owned();
                json!({"taskid": task.0, "status": task.1}).to_string()
            }
            "ListFiles" => self.workspace.list_files(arguments["path"].as_str()).await.unwrap(),
            "ReadFile" => self.workspace.read_file(arguments["path"].as_str().unwrap(), None).await.unwrap(),
            other => panic!("called {other}"),
        }
    }
}

#[tokio::test]
async fn a_reminder_makes_it_record_its_progress() {
    for form in [Form::System, Form::MergedIntoTool] {
        let mut agent = Agent::new(form).await;
        let text = agent.prompt("Look around").await;
        assert!(text.starts_with("Tasks 1, 2 and 3 are completed. I listed "), "{text}");
        assert!(
            text.contains("Cargo.toml, ") && text.contains(" lines in all") && text.contains("8 requests"),
            "{text}"
        );
        assert!(agent.tasks.iter().all(|(_, status)| status == "completed"));
        assert_eq!(agent.server.requests().len(), 11);
    }
}

#[tokio::test]
async fn further_prompts_and_a_resumed_session_work() {
    let mut agent = Agent::new(Form::System).await;
    agent.prompt("Look around").await;
    let mut resumed = Agent {
        messages: agent.messages,
        tasks: agent.tasks,
        idle: agent.idle,
        ..Agent::new(Form::MergedIntoTool).await
    };
    let text = resumed.prompt("And again").await;
    assert!(text.starts_with("Tasks 4, 5 and 6 are completed."), "{text}");
    assert!(resumed.tasks.iter().all(|(_, status)| status == "completed"));
    let calls = resumed.messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let mut ids: Vec<_> = calls.map(|call| call["id"].to_string()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[tokio::test]
async fn without_reminders_the_tasks_stay_open_and_it_says_so() {
    let mut agent = Agent::new(Form::Off).await;
    let text = agent.prompt("Look around").await;
    assert!(text.starts_with("Tasks 1, 2 and 3 are still open, because nobody reminded me."), "{text}");
    assert_eq!(agent.server.requests().len(), 21);
    // A reminder that comes with the next prompt is heeded, and that turn has tasks of its own.
    agent.form = Form::MergedIntoTool;
    let text = agent.prompt("Go on").await;
    assert!(text.starts_with("Tasks 4, 5 and 6 are completed."), "{text}");
    assert!(agent.tasks.iter().all(|(_, status)| status == "completed"));
}

#[tokio::test]
async fn says_what_is_missing() {
    let mut agent = Agent::new(Form::Off).await;
    let answer = agent.ask().await;
    assert!(answer["content"].as_str().unwrap().contains("wait for a prompt"));
    agent.messages.push(json!({"role": "user", "content": "hi"}));
    let url = format!("{}/chat/completions", agent.server.base_url());
    let body = json!({"messages": agent.messages}).to_string();
    let response = agent.http.post(url).body(body).send().await.unwrap();
    assert!(String::from_utf8_lossy(&response.bytes().await.unwrap()).contains("offers no task tools"));
}

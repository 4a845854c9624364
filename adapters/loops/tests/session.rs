//! Scripted sessions in each loop, over HTTP, each turn as a process of its own would have it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests, where these are the failure

use std::path::Path;

use async_openai::{Client, config::OpenAIConfig, types::responses::InputItem};
use insomnia_tasks::{Tasks, reminder::Cadence, wire::LateSystem};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use insomnia_tasks_loops::{Agent, Error, chat, json, responses};
use insomnia_tasks_tests::{Case, Step, TEXT, refusal};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Loop {
    Chat,
    Json,
    Responses,
}

const LOOPS: [Loop; 3] = [Loop::Chat, Loop::Json, Loop::Responses];

impl Loop {
    async fn turn(
        self,
        http: &reqwest::Client,
        server: &ScriptedServer,
        tasks: Tasks,
        history: &Path,
        prompt: &str,
    ) -> Result<String, Error> {
        let config = OpenAIConfig::new().with_api_base(server.base_url()).with_api_key("none");
        let client = Client::build(http.clone(), config);
        let agent = Agent { client, model: "scripted".to_owned(), tasks, history: history.to_owned() };
        match self {
            Self::Chat => chat::turn(&agent, prompt).await,
            Self::Json => json::turn(&agent, prompt).await,
            Self::Responses => responses::turn(&agent, prompt).await,
        }
    }

    /// The history that was sent.
    fn sent(self, request: &RecordedRequest) -> Vec<Value> {
        let key = if self == Self::Responses { "input" } else { "messages" };
        request.json()[key].as_array().unwrap().clone()
    }

    fn resume(self, tasks: &Tasks, history: &Path) {
        let json = std::fs::read(history).unwrap();
        match self {
            Self::Responses => {
                tasks.resume_responses(&serde_json::from_slice::<Vec<InputItem>>(&json).unwrap()).unwrap();
            }
            _ => tasks.resume(&serde_json::from_slice::<Vec<Value>>(&json).unwrap()).unwrap(),
        }
    }

    fn calls(self, number: usize, calls: Vec<(&'static str, Value)>) -> Reply {
        if self != Self::Responses {
            return Reply::calls(calls);
        }
        // as the API has them: a thought, then one item a call
        let thought = json!({"type": "reasoning", "id": format!("rs_{number}"), "summary": []});
        let calls = calls.into_iter().enumerate().map(|(index, (name, arguments))| {
            let (id, call_id) = (format!("fc_{number}_{index}"), format!("call_{number}_{index}"));
            let arguments = arguments.to_string();
            json!({"type": "function_call", "id": id, "call_id": call_id, "name": name, "arguments": arguments,
                "status": "completed"})
        });
        response(number, [thought].into_iter().chain(calls).collect())
    }

    fn text(self, number: usize, text: &str) -> Reply {
        if self != Self::Responses {
            return Reply::text(text);
        }
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        let id = format!("msg_{number}");
        response(
            number,
            vec![json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "content": content})],
        )
    }
}

fn response(number: usize, output: Vec<Value>) -> Reply {
    let id = format!("resp_{number}");
    let body = json!({"id": id, "object": "response", "created_at": 1, "status": "completed", "model": "scripted",
        "output": output});
    Reply::error(200, body)
}

fn reply(kind: Loop, number: usize, step: Step) -> Reply {
    match step {
        Step::Calls(calls) => kind.calls(number, calls),
        Step::Text => kind.text(number, TEXT),
        Step::Refusal => refusal(),
    }
}

#[tokio::test]
async fn reminders_come_when_they_should_and_outlive_the_process() {
    // made once: it reads the system's certificates
    let http = reqwest::Client::new();
    for (number, case) in Case::all().iter().enumerate() {
        let loops = LOOPS.into_iter().zip([LateSystem::System, LateSystem::Merge, LateSystem::Developer]);
        // the generated cases are long, and for one loop each
        let all = !case.name.starts_with("generated");
        for (kind, placement) in loops.filter(|(kind, _)| all || *kind == LOOPS[number % 3]) {
            let replies = case.steps().enumerate().map(|(number, step)| reply(kind, number, step));
            let server = ScriptedServer::start(replies.collect::<Vec<_>>()).await.unwrap();
            let folder = tempfile::tempdir().unwrap();
            let history = folder.path().join("history.json");
            let tasks = || Tasks::new(case.cadence(), placement);
            let mut last = tasks();
            for (number, steps) in case.turns.iter().enumerate() {
                last = tasks();
                let ended = kind.turn(&http, &server, last.clone(), &history, &format!("prompt {number}")).await;
                assert_eq!(ended.is_err(), Case::fails(steps), "{kind:?} {}: {ended:?}", case.name);
            }
            let requests = server.requests();
            let sent: Vec<_> = requests.iter().map(|request| kind.sent(request)).collect();
            let reminders = requests.iter().map(|request| request.text().matches("<system-reminder>").count());
            assert_eq!(reminders.collect::<Vec<_>>(), case.reminders_in_request, "{kind:?} {}", case.name);
            assert!(sent.windows(2).all(|pair| pair[1].starts_with(&pair[0])), "{kind:?} {}", case.name);

            let resumed = tasks();
            kind.resume(&resumed, &history);
            assert_eq!(resumed.reminders().state(), last.reminders().state(), "{kind:?} {}", case.name);
            assert_eq!(resumed.store().snapshot(), last.store().snapshot(), "{kind:?} {}", case.name);
        }
    }
}

#[tokio::test]
async fn tools_and_results_have_the_form_of_each_api() {
    for kind in LOOPS {
        let create = ("TaskCreate", json!({"subject": "Tag it", "description": "v1"}));
        let replies = vec![
            kind.calls(0, vec![create, ("TaskUpdate", json!({"taskid": 1, "status": "doing"}))]),
            kind.calls(1, vec![("Nonsense", json!({}))]),
            kind.text(2, "Tagged."),
        ];
        let server = ScriptedServer::start(replies).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let tasks = Tasks::new(Cadence::new(1, 1).unwrap(), LateSystem::Merge);
        let history = folder.path().join("history.json");
        let ended = kind.turn(&reqwest::Client::new(), &server, tasks, &history, "Tag it.").await;
        assert_eq!(ended.unwrap(), "Tagged.");

        let requests = server.requests();
        let tool = &requests[0].json()["tools"][1];
        let function = if kind == Loop::Responses { tool } else { &tool["function"] };
        assert_eq!((&tool["type"], &function["name"]), (&json!("function"), &json!("TaskUpdate")));
        assert_eq!(function["parameters"]["required"], json!(["taskid"]));
        assert_eq!(tool.get("strict"), (kind == Loop::Responses).then_some(&json!(false)));

        let sent = kind.sent(&requests[2]);
        let result = |item: &Value| item.get("output").or(item.get("content")).unwrap().as_str().unwrap().to_owned();
        let results: Vec<_> =
            sent.iter().filter(|item| item["role"] == "tool" || item.get("output").is_some()).collect();
        assert_eq!(result(results[1]), r#"{"taskid":1,"status":"inprogress","subject":"Tag it"}"#);
        // merged into the last result, whose call was answered in its own name
        let last = result(results[2]);
        assert!(last.starts_with("there is no tool Nonsense\n\n<system-reminder>"), "{kind:?}: {last}");
        let id = |item: &Value| item.get("call_id").or(item.get("tool_call_id")).cloned();
        let called = if kind == Loop::Responses { "call_1_0" } else { "call_3" };
        assert_eq!(id(results[2]), Some(json!(called)));
    }
}

#[tokio::test]
async fn over_json_a_field_that_no_type_knows_is_sent_back() {
    let replies = vec![Reply::calls([("TaskList", json!({}))]).reasoning("let me see"), Reply::text("Nothing.")];
    let server = ScriptedServer::start(replies).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tasks = Tasks::new(Cadence::default(), LateSystem::System);
    let history = folder.path().join("history.json");
    Loop::Json.turn(&reqwest::Client::new(), &server, tasks, &history, "What is there?").await.unwrap();
    assert_eq!(server.requests()[1].messages()[1]["reasoning_content"], "let me see");
}

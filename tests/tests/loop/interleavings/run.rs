use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use insomnia_tasks::{
    Pod, ToolOutput, ToolSet,
    reminder::Cadence,
    session::Session,
    task::{TaskId, TaskStatus, TaskStore},
};
use insomnia_tasks_examples::scripted::{Gate, Reply, ScriptedServer};
use serde_json::{Value, json};

use super::{
    act::{Act, Call, End},
    plain::{COOLDOWN, INACTIVITY, Plain},
};
use crate::support::{Latch, assert_conversation, cancel, folder, pod, refusal, reminders, tool, tools};

/// Plays these acts with a session in a folder and with the model, and compares the two after each.
pub(super) async fn run(acts: &[Act], stream: bool, placement: &str) {
    let (folder, host) = (folder(), Host::new());
    let (replies, gates) = script(acts);
    let server = ScriptedServer::start(replies).await.unwrap();
    let open = || host.open(&server, folder.path(), stream, placement);
    let (mut pod, mut plain, mut expected) = (open().await, Plain::default(), Vec::new());
    let mut gates = gates.into_iter();
    for act in acts {
        match act {
            Act::Turn(answers, end) => {
                for calls in answers {
                    plain.request();
                    expected.push(plain.reminders);
                    plain.answer(calls);
                }
                plain.request();
                expected.push(plain.reminders);
                match end {
                    End::Text => {
                        pod.run("go").await.unwrap();
                        plain.answer(&[]);
                    }
                    End::Refused => drop(pod.run("go").await.unwrap_err()),
                    End::Dropped => cancel(&pod, "go", gates.next().unwrap().reached()).await,
                    End::DroppedInTool(calls) => {
                        cancel(&pod, "go", host.latch.reached()).await;
                        plain.answer(calls);
                    }
                }
            }
            Act::Edit(id, status) => {
                edit(pod.tasks(), *id, *status);
                plain.edit(*id, *status);
            }
            Act::Notify => pod.notify("Something has happened."),
            Act::Reopen => {
                pod = reopened(pod, folder.path(), &plain, open).await;
            }
        }
        plain.check(&pod.tasks().snapshot(), pod.reminders().state());
    }
    drop(reopened(pod, folder.path(), &plain, open).await);
    let requests = server.requests();
    assert_eq!(requests.iter().map(reminders).collect::<Vec<_>>(), expected);
    assert_conversation(&requests);
}

async fn reopened<R: Future<Output = Pod>>(pod: Pod, folder: &Path, plain: &Plain, open: impl Fn() -> R) -> Pod {
    let history = pod.history();
    assert_eq!(history.iter().filter(|item| item.is_task_reminder()).count(), plain.reminders);
    drop(pod);
    let read = Session::read(folder).unwrap();
    assert_eq!(read.items(), history);
    plain.check(&read.tasks().snapshot(), read.reminder_state());
    let pod = open().await;
    assert_eq!(pod.history(), history);
    plain.check(&pod.tasks().snapshot(), pod.reminders().state());
    pod
}

/// What the model's server says, and the gates that hold the replies which are not waited for.
fn script(acts: &[Act]) -> (Vec<Reply>, Vec<Gate>) {
    let (mut replies, mut gates) = (Vec::new(), Vec::new());
    for act in acts {
        let Act::Turn(answers, end) = act else { continue };
        replies.extend(answers.iter().map(|calls| Reply::calls(calls.iter().map(|call| call.wire()))));
        replies.push(match end {
            End::Text => Reply::text("."),
            End::Refused => refusal(400, "no"),
            End::Dropped => {
                gates.push(Gate::new());
                Reply::text("late").hold(&gates[gates.len() - 1])
            }
            End::DroppedInTool(calls) => {
                Reply::calls(calls.iter().map(|call: &Call| call.wire()).chain([("Stuck", json!({}))]))
            }
        });
    }
    (replies, gates)
}

/// The host's side: a tool that never ends, and one that changes tasks.
struct Host {
    latch: Arc<Latch>,
    tasks: Arc<Mutex<Option<TaskStore>>>,
}

impl Host {
    fn new() -> Self {
        Self { latch: Arc::new(Latch::new()), tasks: Arc::default() }
    }

    async fn open(&self, server: &ScriptedServer, folder: &Path, stream: bool, placement: &str) -> Pod {
        let cadence = Cadence::new(INACTIVITY, COOLDOWN).unwrap();
        let builder = pod(server, stream).cadence(cadence).reminder(placement.parse().unwrap());
        let pod = builder.tools(self.tools()).session(folder).build().await.unwrap();
        *self.tasks.lock().unwrap() = Some(pod.tasks().clone());
        pod
    }

    fn tools(&self) -> ToolSet {
        let (latch, tasks) = (self.latch.clone(), self.tasks.clone());
        let stuck = tool("Stuck", move |_| {
            let latch = latch.clone();
            async move {
                latch.pass().await;
                Ok(ToolOutput::new("never"))
            }
        });
        let meddle = tool("Meddle", move |arguments| {
            let tasks = tasks.lock().unwrap().clone().unwrap();
            let arguments: Value = serde_json::from_str(&arguments).unwrap();
            let (id, status) = (arguments["taskid"].as_u64().unwrap(), arguments["status"].as_str().unwrap());
            edit(&tasks, id, status.parse().unwrap());
            async move { Ok(ToolOutput::new(json!({"taskid": id}).to_string())) }
        });
        tools([stuck, meddle])
    }
}

fn edit(tasks: &TaskStore, id: u64, status: TaskStatus) {
    if tasks.update(TaskId::new(id).unwrap(), status).is_err() {
        tasks.create("by the host", "").unwrap();
    }
}

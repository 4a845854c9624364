//! The reminder in the loop: paused, not offered, and what was decided why.

use std::sync::{Arc, Mutex};

use insomnia_tasks::{
    Pod,
    pod::ReminderPlacement,
    pod::TaskReminder,
    reminder::{Cadence, Decision, Quiet, Reminders},
    task::{
        TaskStore,
        tools::{TaskCreate, TaskList, TaskToolbox, TaskUpdate},
    },
    tool::ToolSet,
    worker::{Event, Worker},
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::json;

use crate::support::{assert_conversation, client, http, pod, quiet, reminders};

fn create() -> Reply {
    Reply::calls([("TaskCreate", json!({"subject": "Write the parser", "description": ""}))])
}

async fn session(server: &ScriptedServer) -> Pod {
    pod(server, true).cadence(Cadence::new(2, 3).unwrap()).build().await.unwrap()
}

#[tokio::test]
async fn every_decision_has_its_reason() {
    let mut replies = vec![Reply::text("."), create()];
    replies.extend((0..9).map(|_| Reply::text(".")));
    replies.push(Reply::calls([("TaskUpdate", json!({"taskid": 1, "status": "completed"}))]));
    replies.push(Reply::text("."));
    let server = ScriptedServer::start(replies).await.unwrap();
    let pod = session(&server).await;
    assert_eq!(pod.reminders().last_decision(), None);
    let decisions = Mutex::new(Vec::new());
    for _ in 0..11 {
        let listener = |event| {
            if let Event::ReminderDecided(decision) = event {
                decisions.lock().unwrap().push(decision);
            }
        };
        pod.run_with("go", listener).await.unwrap();
        assert_eq!(pod.reminders().last_decision(), decisions.lock().unwrap().last().copied());
    }
    let decisions = decisions.into_inner().unwrap();
    let used = |requests_ago| Decision::Quiet(Quiet::UsedRecently { requests_ago });
    let cooling = |requests_ago| Decision::Quiet(Quiet::CoolingDown { requests_ago });
    let none = Decision::Quiet(Quiet::NoActiveTask);
    let requests = server.requests();
    let Decision::Remind { tokens } = decisions[4] else { panic!("{decisions:?}") };
    let grown = requests[4].body.len() - requests[3].body.len();
    assert!(tokens > 20 && tokens < grown, "{tokens} of {grown} bytes");
    let remind = Decision::Remind { tokens };
    assert_eq!(
        decisions,
        [
            none,
            none,
            used(0),
            used(1),
            remind,
            cooling(1),
            cooling(2),
            remind,
            cooling(1),
            cooling(2),
            remind,
            cooling(1),
            none
        ]
    );
    assert_conversation(&requests);
    assert_eq!(remind.to_string(), format!("reminder (about {tokens} tokens)"));
    assert_eq!(used(1).to_string(), "no reminder: task tools used 1 request ago");
}

#[tokio::test]
async fn paused_reminders_do_not_come_and_requests_still_count() {
    let mut replies = vec![create()];
    replies.extend((0..8).map(|_| Reply::text(".")));
    let server = ScriptedServer::start(replies).await.unwrap();
    let pod = session(&server).await;
    pod.run("1").await.unwrap();
    pod.reminders().pause();
    for _ in 0..4 {
        pod.run("on").await.unwrap();
    }
    assert_eq!(pod.reminders().last_decision(), Some(Decision::Quiet(Quiet::Paused)));
    assert_eq!(pod.reminders().state().requests_since_last_task_management, 5);
    assert_eq!(reminders(server.requests().last().unwrap()), 0);
    pod.reminders().resume();
    pod.run("on").await.unwrap();
    assert_eq!(reminders(server.requests().last().unwrap()), 1);
}

#[tokio::test]
async fn reminders_can_be_off_from_the_start() {
    let mut replies = vec![create()];
    replies.extend((0..5).map(|_| Reply::text(".")));
    let server = ScriptedServer::start(replies).await.unwrap();
    let builder = pod(&server, false).cadence(Cadence::new(1, 1).unwrap()).reminder(ReminderPlacement::Off);
    let pod = builder.build().await.unwrap();
    for _ in 0..5 {
        pod.run("on").await.unwrap();
    }
    assert_eq!(reminders(server.requests().last().unwrap()), 0);
}

#[tokio::test]
async fn no_reminder_where_the_request_does_not_offer_all_task_tools() {
    for offers_all in [true, false] {
        let (tasks, reminding) = (TaskStore::new(), Reminders::new(Cadence::new(1, 1).unwrap()));
        tasks.create("Open", "").unwrap();
        let state = Arc::new(tasks.clone());
        let mut offered = ToolSet::new();
        if offers_all {
            offered.add_toolbox::<TaskToolbox, _>(state).unwrap();
        } else {
            offered.add::<TaskCreate, _>(state.clone()).unwrap().add::<TaskUpdate, _>(state.clone()).unwrap();
            offered.add::<TaskList, _>(state).unwrap();
        }
        let server = ScriptedServer::start(Reply::text(".")).await.unwrap();
        let mut worker = Worker::builder(&client(&server), "scripted")
            .http_client(http())
            .settings(quiet())
            .tools(offered)
            .interceptor(TaskReminder::new(tasks, reminding.clone()))
            .build()
            .unwrap();
        for _ in 0..3 {
            worker.run("on", &|_| {}).await.unwrap();
        }
        let requests = server.requests();
        assert_eq!(requests.iter().map(reminders).collect::<Vec<_>>(), if offers_all { [0, 1, 2] } else { [0; 3] });
        let not_offered = Some(Decision::Quiet(Quiet::ToolsNotOffered));
        assert_eq!(reminding.last_decision() == not_offered, !offers_all);
        assert_eq!(reminding.state().requests_since_last_task_management, 3);
    }
}

//! One serialisation: what the server gets is what is on disk, in later requests, and in the history after a resume.

use std::fs;

use insomnia_tasks::{Item, reminder::Cadence, session::Session};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::json;

use crate::support::{assert_conversation, folder, pod, sent};

fn replies() -> Vec<Reply> {
    let odd = json!({"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": null,
        "reasoning_details": [{"n": 1e3, "t": "é\u{2028}"}], "tool_calls": [
            {"id": "odd 1", "type": "function", "function": {"name": "TaskUpdate", "arguments": "{ \"taskid\": \"#1\", \"subject\": \"ü\" }"}},
            {"id": "", "function": {"name": "TaskList", "arguments": ""}}]}}]});
    vec![
        Reply::calls([("TaskCreate", json!({"subject": "Ä <b> & \"q\"", "description": "d"}))]),
        Reply::error(200, odd),
        Reply::text("a"),
        Reply::text("b"),
        Reply::text("c"),
        Reply::text("d"),
        Reply::text("e"),
    ]
}

#[tokio::test]
async fn the_reminder_is_the_same_bytes_everywhere() {
    for stream in [true, false] {
        let folder = folder();
        let server = ScriptedServer::start(replies()).await.unwrap();
        let open = || {
            let builder = pod(&server, stream).reminder("system".parse().unwrap());
            builder.cadence(Cadence::new(1, 9).unwrap()).session(folder.path()).build()
        };
        let pod = open().await.unwrap();
        for prompt in ["one", "two", "three"] {
            pod.run(prompt).await.unwrap();
        }
        let before = pod.history();
        drop(pod);
        let pod = open().await.unwrap();
        pod.run("four").await.unwrap();

        let reminder = before.iter().find(|item| item.is_task_reminder()).unwrap().json().to_owned();
        let file = fs::read_to_string(folder.path().join("history.json")).unwrap();
        assert_eq!(file.matches(&reminder).count(), 1);
        let requests = server.requests();
        let carrying = requests.iter().filter(|request| request.text().contains(&reminder)).count();
        assert_eq!(carrying, 3);
        assert!(sent(requests.last().unwrap()).messages.contains(&reminder));
        assert_eq!(pod.history()[..before.len()], before);
        assert!(pod.history().iter().any(|item| item.is_task_reminder() && item.json() == reminder));
    }
}

#[tokio::test]
async fn a_resumed_session_has_every_item_and_sends_what_its_unclosed_twin_sends() {
    for stream in [true, false] {
        for placement in ["auto", "system", "developer", "user", "merge"] {
            let (closed, open) = (folder(), folder());
            let mut bodies = Vec::new();
            for (folder, reopens) in [(&closed, true), (&open, false)] {
                let server = ScriptedServer::start(replies()).await.unwrap();
                let build = || {
                    let builder = pod(&server, stream).instructions("Work.").reminder(placement.parse().unwrap());
                    builder.cadence(Cadence::new(1, 2).unwrap()).session(folder.path()).build()
                };
                let mut pod = build().await.unwrap();
                for prompt in ["one", "two", "three", "four"] {
                    pod.run(prompt).await.unwrap();
                    if reopens {
                        let (items, tasks, state) = (pod.history(), pod.tasks().snapshot(), pod.reminders().state());
                        drop(pod);
                        let read = Session::read(folder.path()).unwrap();
                        assert_eq!(
                            (read.items(), read.tasks().snapshot(), read.reminder_state()),
                            (&items[..], tasks.clone(), state)
                        );
                        pod = build().await.unwrap();
                        assert_eq!(jsons(&pod.history()), jsons(&items));
                        assert_eq!((pod.tasks().snapshot(), pod.reminders().state()), (tasks, state));
                    }
                }
                assert_conversation(&server.requests());
                bodies.push(server.requests().iter().map(|request| request.text()).collect::<Vec<_>>());
            }
            assert_eq!(bodies[0], bodies[1], "{placement}");
        }
    }
}

#[tokio::test]
async fn a_message_that_needs_no_change_is_sent_as_it_is_stored() {
    let folder = folder();
    let server = ScriptedServer::start(replies()).await.unwrap();
    let pod = pod(&server, true).reminder("system".parse().unwrap()).session(folder.path()).build().await.unwrap();
    let prompt = r#"{"role":"user","content":[{"type":"text","text":"hi"}],"name":"Ada","x":1.50}"#;
    pod.run(Item::from_json(prompt).unwrap()).await.unwrap();
    let last = sent(server.requests().last().unwrap());
    assert_eq!(last.messages[0], prompt);
    let history = jsons(&pod.history());
    let file = fs::read_to_string(folder.path().join("history.json")).unwrap();
    assert!(history.iter().all(|item| file.contains(item.as_str())));
    // a missing id is given, and a missing type with it; all else stays
    let same: Vec<_> = last.messages.iter().zip(&history).map(|(sent, stored)| sent == stored).collect();
    assert_eq!(same, [true, true, true, false, true, true]);
}

fn jsons(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| item.json().to_owned()).collect()
}

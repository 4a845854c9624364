use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::json;

use crate::place::{Place, Program, create, list, prompts, server};

const SOURCE: &str = include_str!("../../src/bin/drop_in.rs");

fn drop_in(place: &Place, flags: &[&str]) -> Program {
    place.program(env!("CARGO_BIN_EXE_drop_in")).args(flags)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn keeps_tasks_and_is_reminded() {
    let place = Place::new();
    let mut replies = vec![create("Tidy up"), Reply::text("noted")];
    replies.extend(vec![list(); 7]);
    replies.push(Reply::calls([("Nonsense", json!({}))]));
    replies.push(Reply::calls([("TaskUpdate", json!({"taskid": 1, "status": "done"}))]));
    replies.push(Reply::text("finished"));
    let server = server(replies).await;
    let program =
        drop_in(&place, &["A", "B"]).env("OPENAI_BASE_URL", &server.base_url()).env("OPENAI_MODEL", "gpt-5-mini");
    let ran = program.run();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "noted\nfinished\n"), "{ran:?}");
    assert!(ran.stderr.contains("completed") && ran.stderr.contains("Tidy up"), "{ran:?}");

    let requests = server.requests();
    assert_eq!((requests.len(), prompts(&requests[11])), (12, vec!["A".to_owned(), "B".to_owned()]));
    assert!(requests.iter().all(|request| request.tool_names().len() == 4));
    // one answer with a change, then eight without: the tenth request is the first with a reminder
    let reminders: Vec<_> =
        requests.iter().map(|request| request.text().matches("<system-reminder>").count()).collect();
    assert_eq!(reminders, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
    assert!(requests[10].text().contains("there is no tool Nonsense"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn reads_the_same_variables() {
    let place = Place::new();
    let server = ScriptedServer::start_with_key(Reply::text("hi"), "sk-1").await.unwrap();
    let program = drop_in(&place, &["A"]).env("OPENAI_BASE_URL", &format!("{}/", server.base_url()));
    let program = program.env("OPENAI_API_KEY", "sk-1\n").env("OPENAI_MODEL", "");
    let ran = program.run();
    assert_eq!(ran.stdout, "hi\n", "{ran:?}");
    assert_eq!(server.requests()[0].json()["model"], "gpt-5-mini");
}

#[test]
fn says_what_it_needs() {
    let place = Place::new();
    let ran = drop_in(&place, &["A"]).run().ended(1).told(&["OPENAI_API_KEY", "OPENAI_BASE_URL"]);
    assert_eq!(ran.stdout, "");
    drop_in(&place, &["A"]).env("OPENAI_API_KEY", "").run().ended(1).told(&["OPENAI_API_KEY"]);
    drop_in(&place, &[]).env("OPENAI_API_KEY", "sk-1").run().ended(1).told(&["drop_in PROMPT"]);
}

#[test]
fn is_short() {
    assert!(SOURCE.lines().count() < 60);
}

use insomnia_tasks::session::postgres::PostgresOptions;
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::Value;

use crate::{
    place::{Place, Program, create, prompts, server as model},
    server::server,
};

fn chat(place: &Place, model: &ScriptedServer, session: &str, prompt: &str) -> Program {
    place.bare(&["--base-url", &model.base_url(), "--session", session, "-p", prompt])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn are_kept_resumed_printed_and_held_by_one_at_a_time() {
    let server = server!();
    let place = Place::new();
    let session = format!("{}/chat-1", server.url());
    let model = model(vec![create("Pack"), Reply::text("Noted."), Reply::text("Yes.")]).await;
    for (text, answer) in [("plan", "Noted.\n"), ("still there?", "Yes.\n")] {
        assert_eq!(chat(&place, &model, &session, text).run().ended(0).stdout, answer);
    }
    assert_eq!(prompts(&model.requests()[2]), ["plan", "still there?"]);
    let printed = |command: &str| -> Vec<Value> {
        serde_json::from_str(&place.bare(&[command, "--session", &session]).run().ended(0).stdout).unwrap()
    };
    assert_eq!(printed("tasks")[0]["subject"], "Pack");
    assert_eq!(printed("history").len(), 6);
    let page = place.bare(&["report", "--session", &session]).run().ended(0).stdout;
    assert!(page.contains("Task 1 (pending): Pack"), "{page}");

    // in use elsewhere
    let held = server.sessions().open("chat-1", PostgresOptions::new()).await.unwrap();
    chat(&place, &model, &session, "and now?").run().ended(3).told(&["is in use by process"]);
    drop(held);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn are_listed_with_addresses_that_lead_to_them() {
    let server = server!();
    let place = Place::new();
    let database = server.url_of(&server.database("listed", "").await);
    let nothing = place.bare(&["sessions", &database]).run().ended(0);
    assert!(nothing.stdout.is_empty() && nothing.stderr.contains("no sessions in"), "{nothing:?}");

    let model = model(vec![Reply::text("one"), Reply::text("two"), Reply::text("three")]).await;
    for name in ["customer/42", "a%20b%3F"] {
        chat(&place, &model, &format!("{database}/{name}"), "A").run().ended(0);
    }
    let sessions = insomnia_tasks::session::postgres::PostgresSessions::connect(&database).unwrap();
    let held = sessions.open("held", PostgresOptions::new().owner("ann")).await.unwrap();
    let listed = place.bare(&["sessions", &database]).run().ended(0).stdout;
    let lines: Vec<_> = listed.lines().collect();
    // the latest first
    let ends =
        [format!("{database}/held  in use by ann"), format!("{database}/a%20b%3F"), format!("{database}/customer/42")];
    assert_eq!(lines.len(), 3, "{listed}");
    assert!(lines.iter().zip(&ends).all(|(line, end)| line.ends_with(end)), "{listed}");
    assert!(lines[0].contains(" 0 entries") && lines[1].contains(" 2 entries"), "{listed}");
    drop(held);
    chat(&place, &model, lines[1].rsplit_once("  ").unwrap().1, "B").run().ended(0);
    assert_eq!(prompts(&model.requests()[2]), ["A", "B"]);

    let as_a_flag = place.bare(&["sessions", "--session", &database]).run().ended(0).stdout;
    assert_eq!(as_a_flag.lines().count(), 3);
    place.bare(&["sessions", &format!("{database}/held")]).run().ended(2).told(&["as a whole"]);
    place.bare(&["sessions", "/tmp"]).run().ended(2).told(&["postgres://"]);
    place.bare(&["sessions", &server.url_of("nowhere")]).run().ended(3).told(&["no such database"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn take_a_password_and_never_show_it() {
    let server = server!();
    let create = "create role asked login superuser password 'hush #1'";
    server.client().await.batch_execute(create).await.unwrap();
    let place = Place::new();
    let database = server.url().replace("tester@", "asked@");
    let session = format!("{database}/asked");
    let model = model(vec![Reply::text("one"), Reply::text("two"), Reply::text("three")]).await;
    let in_address = session.replace("asked@", "asked:hush%20%231@");
    for (session, variable, output) in
        [(&in_address, None, "text"), (&session, Some("hush #1"), "text"), (&in_address, Some("wrong"), "json")]
    {
        let program = chat(&place, &model, session, "A").args(&["--output", output]);
        let ran = match variable {
            Some(password) => program.env("PGPASSWORD", password),
            None => program,
        }
        .run()
        .ended(0);
        assert!(!format!("{ran:?}").contains("hush"), "{ran:?}");
        assert!(output == "json" || ran.stderr.contains(&format!("--session {database}/asked --base-url")), "{ran:?}");
    }
    let wrong =
        chat(&place, &model, &session, "A").env("PGPASSWORD", "wr0ng").run().ended(3).told(&["user name and password"]);
    assert!(!wrong.stderr.contains("wr0ng"), "{wrong:?}");
    let typed = place.bare(&["--base-url", &model.base_url(), "--session", &in_address]);
    let forked = typed.stdin("").args(&["-p", "/fork x"]).run();
    assert!(!format!("{forked:?}").contains("hush"), "{forked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn need_a_name_and_a_database() {
    let server = server!();
    let place = Place::new();
    let model = model(vec![Reply::text("never")]).await;
    chat(&place, &model, &server.url(), "A").run().ended(2).told(&["the session's name is missing"]);
    let nowhere = format!("{}/s", server.url_of("nowhere"));
    chat(&place, &model, &nowhere, "A").run().ended(3).told(&["there is no such database", "create it"]);
    chat(&place, &model, "postgres://h:x/db/s", "A").run().ended(2).told(&["address of the database is not usable"]);
    let absent = format!("{}/never-made", server.url());
    place.bare(&["history", "--session", &absent]).run().ended(3).told(&["there is no session `never-made`"]);
    assert!(model.requests().is_empty());
}

use insomnia_tasks::session::Session;
use insomnia_tasks_examples::scripted::Reply;
use serde_json::json;

use crate::place::{Place, create, server};

const SOURCE: &str = include_str!("../../src/bin/new_agent.rs");
const README: &str = include_str!("../../../README.md");

fn code() -> &'static str {
    SOURCE.split_once("\n\n").unwrap().1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn runs_its_tool_and_keeps_its_tasks() {
    let place = Place::new();
    let weather = Reply::calls([("Weather", json!({"city": "Lisbon"}))]);
    let server = server(vec![create("Book a room"), weather, Reply::text("A week in Lisbon.")]).await;
    let program = place.program(env!("CARGO_BIN_EXE_new_agent")).env("OPENAI_BASE_URL", &server.base_url());
    let ran = program.run();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "A week in Lisbon.\n"), "{ran:?}");
    assert!(server.requests()[2].text().contains("sunny in Lisbon"));
    let session = Session::read(place.path("work/sessions/trip")).unwrap();
    assert_eq!(session.tasks().list()[0].subject, "Book a room");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn says_what_is_wrong_where_main_returns_the_error() {
    let place = Place::new();
    let refusal = Reply::error(401, json!({"error": {"message": "no such key", "code": "invalid_api_key"}}));
    let server = server(vec![refusal]).await;
    let program = place.program(env!("CARGO_BIN_EXE_new_agent")).env("OPENAI_BASE_URL", &server.base_url());
    let ran = program.run().ended(1).told(&["no such key", "check OPENAI_API_KEY"]);
    assert!(ran.stderr.len() < 500, "{ran:?}");
}

#[test]
fn is_the_readmes_and_short() {
    assert!(README.contains(code()));
    assert!(code().lines().filter(|line| !line.trim().is_empty()).count() < 20);
}

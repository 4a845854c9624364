use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};

use crate::place::Place;

const ALL: [&str; 3] = ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"];

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn variables_are_used_and_trimmed() {
    let place = Place::new();
    let server = ScriptedServer::start_with_key(Reply::text("hi"), "sk-secret").await.unwrap();
    let base_url = format!(" {}/ \n", server.base_url());
    let program = place.bare(&["-p", "A"]).env("OPENAI_BASE_URL", &base_url).env("OPENAI_API_KEY", "sk-secret\n");
    let program = program.env("OPENAI_MODEL", "tiny").env("OPENAI_ORG_ID", "org\n").env("OPENAI_PROJECT_ID", "");
    let ran = program.run().ended(0).told(&["tiny at http://127.0.0.1"]);
    assert_eq!(ran.stdout, "hi\n");
    let request = &server.requests()[0];
    assert_eq!((request.path.as_str(), &request.json()["model"]), ("/v1/chat/completions", &"tiny".into()));
    assert_eq!(request.header("openai-organization"), Some("org"));
    assert!(!format!("{ran:?}").contains("sk-secret"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn flags_beat_variables() {
    let place = Place::new();
    let server = ScriptedServer::start_with_key(Reply::text("hi"), "sk-flag").await.unwrap();
    let base_url = format!("{}/", server.base_url());
    let mut program = place.bare(&["-p", "A", "--base-url", &base_url, "--api-key", "sk-flag", "--model", "flagged"]);
    for name in ALL {
        program = program.env(name, "http://127.0.0.1:9/wrong");
    }
    let ran = program.run().ended(0);
    assert_eq!(server.requests()[0].json()["model"], "flagged");
    // the line to go on with names the server, not the key
    assert!(ran.stderr.contains(&format!("--base-url {} --model flagged", server.base_url())), "{ran:?}");
    assert!(!ran.stderr.contains("sk-flag"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn empty_variables_are_none() {
    let place = Place::new();
    let mut program = place.bare(&["-p", "A"]);
    for name in ALL {
        program = program.env(name, " ");
    }
    program.run().ended(0).told(&["This is the demo"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_may_need_no_key() {
    let place = Place::new();
    let server = ScriptedServer::start(Reply::text("local")).await.unwrap();
    let ran = place.chat(&server, &["-p", "A"]).run().ended(0);
    assert_eq!(ran.stdout, "local\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn secrets_in_the_address_are_not_shown() {
    let place = Place::new();
    let server = ScriptedServer::start(Reply::text("hi")).await.unwrap();
    let base_url = server.base_url().replace("//", "//me:sk-secret@");
    for output in ["text", "json"] {
        let flags = ["-p", "A", "--base-url", &base_url, "--output", output];
        let ran = place.bare(&flags).run().ended(0);
        assert!(!format!("{ran:?}").contains("sk-secret"), "{ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_proxy_is_not_asked_for_this_machine() {
    let place = Place::new();
    let server = ScriptedServer::start(Reply::text("local")).await.unwrap();
    let named = server.base_url().replace("127.0.0.1", "localhost");
    for base_url in [server.base_url(), named] {
        let program = place.bare(&["-p", "A", "--base-url", &base_url]).env("http_proxy", "http://127.0.0.1:9");
        assert_eq!(program.run().ended(0).stdout, "local\n");
    }
    place.bare(&["-p", "A"]).env("HTTP_PROXY", "http://127.0.0.1:9").run().ended(0);
}

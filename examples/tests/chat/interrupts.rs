use std::io::Read;

use insomnia_tasks_examples::scripted::{Gate, Reply};
use serde_json::json;

use crate::place::{Place, create, half, prompts, server};

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn ctrl_c_in_mid_stream_cancels_and_loses_nothing() {
    let place = Place::new();
    let server = server(vec![create("Tidy up"), half("half an "), Reply::text("all")]).await;
    let mut running = place.chat(&server, &["-p", "A", "-p", "B"]).start();
    running.says("half an ");
    running.signal("INT");
    let ran = running.wait().ended(1).told(&["cancelled", "not run: 1"]);
    assert_eq!(ran.stdout, "half an \n");
    server.wait_for_hang_ups(1).await;

    let ran = place.chat(&server, &["-p", "C"]).run().ended(0).told(&[" 1 Tidy up"]);
    assert_eq!(ran.stdout, "all\n");
    assert_eq!(prompts(&server.requests()[2]), ["A", "C"]);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn ctrl_c_before_the_first_answer_keeps_the_prompt() {
    let place = Place::new();
    let gate = Gate::new();
    let server = server(vec![Reply::text("late").hold(&gate)]).await;
    let running = place.chat(&server, &["-p", "A"]).start();
    server.wait_for_requests(1).await;
    running.signal("INT");
    running.wait().ended(1).told(&["cancelled"]);
    assert!(place.history_file().contains(r#""content":"A""#));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn ctrl_c_ends_the_wait_for_a_pipe() {
    let place = Place::new();
    let server = server(vec![Reply::text("one")]).await;
    let mut running = place.chat(&server, &["--output", "json"]).stdin("A\n").start();
    running.says("turn_finished");
    running.signal("INT");
    // its stdin is still open
    running.wait().ended(0);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_terminated_session_goes_on() {
    let place = Place::new();
    let server = server(vec![create("Tidy up"), half("half"), Reply::text("all")]).await;
    let mut running = place.chat(&server, &["-p", "A"]).start();
    running.says("half");
    running.signal("TERM");
    assert_eq!(running.wait().code, Some(143));
    place.chat(&server, &["-p", "B"]).run().ended(0).told(&[" 1 Tidy up"]);
    assert_eq!(prompts(&server.requests()[2]), ["A", "B"]);
}

#[cfg(unix)]
#[test]
fn a_session_that_does_not_open_ends_nobodys_patience() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let session = format!("postgres://127.0.0.1:{}/db/name", silent.local_addr().unwrap().port());
    for (signal, code) in [("INT", 1), ("TERM", 143)] {
        let place = Place::new();
        let running = place.bare(&["--demo", "-p", "A", "--session", &session]).start();
        let connection = silent.accept().unwrap();
        running.signal(signal);
        let ran = running.wait().ended(code);
        assert_eq!(ran.stdout, "");
        drop(connection);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_reader_that_goes_away_costs_nothing() {
    for output in ["text", "json"] {
        let place = Place::new();
        let gate = Gate::new();
        let calls = Reply::text_and_calls("first line\n", [("TaskCreate", json!({"subject": "x", "description": ""}))]);
        let server = server(vec![calls, Reply::text("last line\n").hold(&gate)]).await;
        let mut running = place.chat(&server, &["-p", "A", "--output", output]).start();
        let mut stdout = running.child.stdout.take().unwrap();
        stdout.read_exact(&mut [0]).unwrap();
        drop(stdout);
        gate.open();
        running.finish().ended(0);
        assert!(place.history_file().contains("last line"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn nobody_need_read_the_notes() {
    let place = Place::new();
    let server = server(vec![create("x"), Reply::text("done")]).await;
    let mut running = place.chat(&server, &["-p", "A"]).start();
    drop(running.child.stderr.take());
    assert_eq!(running.finish().ended(0).stdout, "done\n");
}

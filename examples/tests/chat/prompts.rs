use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::json;

use crate::place::{Place, create, list, prompts, server};

/// Answers with the number of prompts.
async fn counting() -> ScriptedServer {
    let model = |request: &RecordedRequest, _: usize| Reply::text(format!("answer {}", prompts(request).len()));
    ScriptedServer::start(model).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn run_in_order() {
    let (place, server) = (Place::new(), counting().await);
    let ran = place.chat(&server, &["-p", "A", "--prompt", "B\nb"]).stdin("from the pipe\n").run().ended(0);
    assert_eq!(ran.stdout, "answer 1\nanswer 2\n");
    assert_eq!(prompts(&server.requests()[1]), ["A", "B\nb"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn come_from_a_pipe_one_per_line() {
    let (place, server) = (Place::new(), counting().await);
    let ran = place.chat(&server, &[]).stdin(b"\xef\xbb\xbfone\r\n\r\n  \n\xfftwo\n\n three").run().ended(0);
    assert_eq!(ran.stdout, "answer 1\nanswer 2\nanswer 3\n");
    assert_eq!(prompts(&server.requests()[2]), ["one", "\u{fffd}two", "three"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn are_run_as_the_lines_come() {
    let (place, server) = (Place::new(), counting().await);
    let mut running = place.chat(&server, &[]).stdin("one\n").start();
    running.says("answer 1\n");
    running.finish().ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn of_an_empty_pipe_are_none() {
    let (place, server) = (Place::new(), counting().await);
    let ran = place.chat(&server, &[]).stdin("\n \n").run().ended(0);
    assert_eq!((ran.stdout.as_str(), server.requests().len()), ("", 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn stop_at_the_first_failed_turn() {
    let place = Place::new();
    let refusal = Reply::error(400, json!({"error": {"message": "no such thing"}}));
    let failing = server(vec![refusal.clone(), Reply::text("fine")]).await;
    let ran = place.chat(&failing, &["-p", "A", "-p", "B", "-p", "C"]).run().ended(1);
    ran.told(&["error: ", "no such thing", "not run: 2", "--keep-going"]);
    assert_eq!(failing.requests().len(), 1);

    let failing = server(vec![refusal, Reply::text("fine")]).await;
    let ran = place.chat(&failing, &["--keep-going"]).stdin("D\nE\n").run().ended(1).told(&["no such thing"]);
    assert_eq!(ran.stdout, "fine\n");
    assert_eq!(prompts(&failing.requests()[1]).last().unwrap(), "E");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn have_a_limit_of_requests() {
    let place = Place::new();
    let busy = server(vec![create("x"), list(), list(), list()]).await;
    place
        .chat(&busy, &["-p", "A", "--max-requests", "3"])
        .run()
        .ended(1)
        .told(&["limit of 3", "hint: --max-requests N"]);
    assert_eq!(busy.requests().len(), 3);
    place.chat(&busy, &["-p", "A", "--max-requests", "0"]).run().ended(2).told(&["--max-requests"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn are_answered_without_streaming_too() {
    let place = Place::new();
    let whole = server(vec![create("x"), Reply::text("done")]).await;
    let ran = place.chat(&whole, &["-p", "A", "--no-stream"]).run().ended(0).told(&[
        "TaskCreate",
        "2 requests",
        "for tasks alone",
    ]);
    assert_eq!(ran.stdout, "done\n");
    assert!(whole.requests().iter().all(|request| !request.wants_stream()));
}

#[cfg(unix)]
#[test]
fn cannot_come_from_a_folder() {
    let place = Place::new();
    let session = place.session();
    let chat = place.bare(&["--base-url", "http://127.0.0.1:9/v1", "--session", session.to_str().unwrap()]);
    let mut shell = place.program("/bin/sh").args(&["-c", "exec \"$0\" \"$@\" < /"]);
    shell.command.arg(chat.command.get_program()).args(chat.command.get_args());
    shell.run().ended(2).told(&["stdin gives no prompts", "-p TEXT"]);
}

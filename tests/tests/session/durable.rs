use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use insomnia_tasks::session::{Durability, Session};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::Value;

use crate::support::{builder, check_pairs, open, records, three_requests_a_turn, view};

/// A model that looks into the session's file at each request.
fn suspicious(folder: PathBuf, faults: Arc<Mutex<Vec<String>>>) -> impl Fn(&RecordedRequest, usize) -> Reply {
    move |request, number| {
        let stored: Result<Vec<Value>, _> =
            serde_json::from_slice(&std::fs::read(folder.join("history.json")).unwrap_or_default());
        match stored {
            Err(error) => faults.lock().unwrap().push(format!("request {number}: no valid JSON: {error}")),
            Ok(stored) => {
                for message in request.messages().iter().filter(|message| message["content"] != "Be brief.") {
                    if !stored.iter().any(|record| record["message"] == *message) {
                        faults.lock().unwrap().push(format!("request {number}: not stored: {message}"));
                    }
                }
            }
        }
        three_requests_a_turn(number)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i03_everything_sent_is_in_a_valid_file_first() {
    let folder = tempfile::tempdir().unwrap();
    let faults = Arc::default();
    let server = ScriptedServer::start(suspicious(folder.path().to_owned(), Arc::clone(&faults))).await.unwrap();
    let pod = open(&server, folder.path()).await;
    for turn in 0..15 {
        pod.notify(format!("note {turn}"));
        pod.tasks().create(format!("by the host {turn}"), "").unwrap();
        pod.run(format!("go {turn}")).await.unwrap();
        records(folder.path());
    }
    assert_eq!(*faults.lock().unwrap(), Vec::<String>::new());
    assert_eq!(server.requests().len(), 45);
    let last = server.requests().pop().unwrap().messages();
    assert!(last.iter().any(|message| message["content"].as_str().is_some_and(|text| text.contains("<system-rem"))));
    check_pairs(&last);
}

#[test]
#[ignore = "the child of another test"]
fn runs_turns_until_it_is_killed() {
    let Ok(folder) = std::env::var("INSOMNIA_TEST_SESSION") else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server =
            ScriptedServer::start(|_: &RecordedRequest, number: usize| three_requests_a_turn(number)).await.unwrap();
        let pod = builder(&server, Path::new(&folder)).durability(Durability::Os).build().await.unwrap();
        for turn in 1.. {
            pod.run(format!("go {turn}")).await.unwrap();
            println!("\nturn {turn}");
        }
    });
}

#[cfg(unix)]
#[test]
fn without_waiting_for_the_disk_a_pod_still_loses_nothing_to_a_kill() {
    for killed_after in [1, 2, 5] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "durable::runs_turns_until_it_is_killed", "--ignored", "--nocapture"])
            .env("INSOMNIA_TEST_SESSION", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut turns = lines.filter_map(|line| line.strip_prefix("turn ")?.parse::<usize>().ok());
        let last = turns.by_ref().take(killed_after).last().unwrap();
        child.kill().unwrap();
        let last = turns.last().unwrap_or(last);
        child.wait().unwrap();

        let session = Session::read(folder.path()).unwrap();
        check_pairs(&view(session.items()));
        for turn in 1..=last {
            let said = |text: String| session.items().iter().any(|item| item.json().contains(&text));
            assert!(said(format!("\"go {turn}\"")) && said(format!("turn {turn} is done")), "turn {turn} of {last}");
        }
        assert!(session.tasks().list().len() >= last);
    }
}

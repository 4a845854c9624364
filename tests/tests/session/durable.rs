use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::Value;

use crate::support::{check_pairs, open, records, three_requests_a_turn};

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

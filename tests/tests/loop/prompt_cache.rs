//! What a server has seen stays as it was, so that its prompt cache holds.

use insomnia_tasks::reminder::Cadence;
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::json;

use crate::support::{pod, reminders, sent};

/// A task is made, then 199 requests look around: calls and plain answers in turn.
fn model(_: &RecordedRequest, number: usize) -> Reply {
    match number {
        0 => Reply::calls([("TaskCreate", json!({"subject": "Port the parser", "description": ""}))]),
        _ if number.is_multiple_of(3) => Reply::text(format!("Looked {number} times.")),
        _ => Reply::calls([("TaskList", json!({}))]),
    }
}

#[tokio::test]
async fn two_hundred_requests_with_reminders_keep_every_byte_that_was_sent() {
    for placement in ["system", "developer", "user", "merge"] {
        let server = ScriptedServer::start(model).await.unwrap();
        let builder = pod(&server, true).instructions("Work.").reminder(placement.parse().unwrap());
        let pod = builder.cadence(Cadence::new(2, 3).unwrap()).build().await.unwrap();
        while server.requests().len() < 200 {
            pod.run("Go on.").await.unwrap();
        }
        let requests = server.requests();
        let (mut before, mut around) = (String::new(), None);
        for request in &requests {
            let now = sent(request).messages.join(",");
            assert!(now.starts_with(&before), "{placement}");
            // model, tools and all else too
            let (body, messages) = (request.text(), format!("[{now}]"));
            assert!(body.contains(&messages));
            let rest = body.replacen(&messages, "", 1);
            assert_eq!(&rest, around.get_or_insert_with(|| rest.clone()));
            before = now;
        }
        assert!(reminders(&requests[requests.len() - 1]) > 30, "{placement}");
    }
}

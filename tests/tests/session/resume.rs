use insomnia_tasks::{
    Item, Pod,
    session::{Entry, EntryBody, FileOptions, FileStore, Session, Storage},
    task::{TaskId, TaskStatus},
    worker::Compaction,
};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};

use crate::support::{builder, check_pairs, create, open, records, three_requests_a_turn, update};

#[derive(Clone, Copy, Debug)]
enum Step {
    Prompt,
    Fail,
    Edit,
    Compact,
    Rewind(u64),
}

async fn take(step: Step, number: usize, pod: &Pod) {
    match step {
        Step::Prompt => drop(pod.run(format!("step {number}")).await.unwrap()),
        Step::Fail => drop(pod.run(format!("fail {number}")).await.unwrap_err()),
        Step::Edit => {
            let task = pod.tasks().create(format!("by hand {number}"), "").unwrap();
            pod.tasks().update(task.taskid, TaskStatus::Completed).unwrap();
            pod.tasks().update(TaskId::FIRST, TaskStatus::Pending).unwrap();
        }
        Step::Compact => drop(pod.compact(&Compaction::default()).await.unwrap()),
        Step::Rewind(back) => pod.rewind(pod.turn() - back).await.unwrap(),
    }
}

/// Depends on the conversation alone, as a model does.
fn answer(request: &RecordedRequest) -> Reply {
    let messages = request.messages();
    let prompt = messages.iter().rfind(|message| message["role"] == "user").unwrap();
    let content = prompt["content"].as_str().unwrap_or_default();
    if content.starts_with("Summarise") {
        return Reply::text(format!("summary of {} messages", messages.len()));
    }
    if content.starts_with("fail") {
        return Reply::error(400, serde_json::json!({"error": {"message": "no"}}));
    }
    match messages.len() % 5 {
        0 => Reply::calls([create(&format!("task at {}", messages.len())), update(1, "inprogress")]),
        1 => Reply::text_and_calls("looking", [("TaskList", serde_json::json!({}))]),
        2 => Reply::calls([update(2, "completed"), update(99, "completed")]),
        _ => Reply::text("done"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_reopened_after_every_step_sends_the_same_bytes() {
    use Step::{Compact, Edit, Fail, Prompt, Rewind};
    let script = [
        Prompt,
        Prompt,
        Edit,
        Prompt,
        Fail,
        Prompt,
        Compact,
        Prompt,
        Edit,
        Rewind(1),
        Prompt,
        Prompt,
        Compact,
        Prompt,
        Rewind(3),
        Prompt,
        Edit,
        Compact,
        Compact,
        Prompt,
        Prompt,
        Rewind(0),
        Prompt,
        Prompt,
    ];
    let mut sent = Vec::new();
    let mut ends = Vec::new();
    for reopens in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let model = |request: &RecordedRequest, _: usize| answer(request);
        let server = ScriptedServer::start(model).await.unwrap();
        let mut pod = open(&server, folder.path()).await;
        for (number, step) in script.into_iter().enumerate() {
            take(step, number, &pod).await;
            if reopens {
                pod.close().await.unwrap();
                drop(pod);
                pod = open(&server, folder.path()).await;
            }
        }
        let requests = server.requests();
        for request in &requests {
            check_pairs(&request.messages());
        }
        sent.push(requests.into_iter().map(|request| request.text()).collect::<Vec<_>>());
        ends.push((pod.tasks().snapshot(), pod.reminders().state(), pod.history(), pod.turn()));
    }
    assert!(sent[0].len() > 20, "{}", sent[0].len());
    for (number, (never_closed, reopened)) in sent[0].iter().zip(&sent[1]).enumerate() {
        assert_eq!(never_closed, reopened, "request {number}");
    }
    assert_eq!(sent[0].len(), sent[1].len());
    assert_eq!(ends[0], ends[1]);
    assert!(sent[0].iter().any(|request| request.contains("<system-reminder>")));
}

#[tokio::test(flavor = "multi_thread")]
async fn i12_counters_read_back_are_those_kept_live() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(|_: &RecordedRequest, number: usize| three_requests_a_turn(number / 2)).await;
    let server = server.unwrap();
    let pod = builder(&server, folder.path()).max_requests(1).build().await.unwrap();
    for _ in 0..20 {
        // ends with its limit where the answer calls tools
        let _ = pod.run("go on").await;
        assert_eq!(Session::read(folder.path()).unwrap().reminder_state(), pod.reminders().state());
    }
    assert!(pod.history().iter().any(Item::is_task_reminder));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_host_says_survives_a_close() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(Reply::text("fine")).await.unwrap();
    let pod = open(&server, folder.path()).await;
    pod.run("hi").await.unwrap();
    pod.notify("the build is red");
    pod.tasks().create("mend it", "").unwrap();
    pod.close().await.unwrap();
    assert!(pod.run("too late").await.unwrap_err().to_string().contains("closed"));
    drop(pod);

    let pod = open(&server, folder.path()).await;
    pod.run("and now?").await.unwrap();
    assert_eq!(pod.tasks().list()[0].subject, "mend it");
    let last = server.requests().pop().unwrap().messages();
    assert!(last.iter().any(|message| message["content"] == "the build is red"), "{last:?}");
    assert!(!last.iter().any(|message| message["content"] == "too late"), "it was never stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn i06_numbers_have_no_gaps_and_unknown_kinds_stay() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(|_: &RecordedRequest, number: usize| three_requests_a_turn(number)).await;
    let server = server.unwrap();
    let pod = open(&server, folder.path()).await;
    pod.run("go").await.unwrap();
    pod.close().await.unwrap();
    drop(pod);
    let opened = FileStore::open(folder.path(), FileOptions::new()).unwrap();
    let seq = opened.session.next_seq;
    let dream = format!(r#"{{"record":"dream","seq":{seq},"id":"x","of":["sheep",1.0]}}"#);
    opened.store.append(&Entry::from_json(&dream).unwrap());
    opened.store.close().await.unwrap();
    drop(opened);

    let pod = open(&server, folder.path()).await;
    let [damage] = pod.damage() else { panic!("{:?}", pod.damage()) };
    assert!(damage.to_string().starts_with("1 record(s) of the kind `dream`"), "{damage}");
    pod.run("go").await.unwrap();
    pod.fork(folder.path().join("fork")).await.unwrap();
    for folder in [folder.path().to_owned(), folder.path().join("fork")] {
        let text = std::fs::read_to_string(folder.join("history.json")).unwrap();
        assert!(text.contains(&format!("\n{dream},\n")), "{text}");
        let numbers: Vec<_> = records(&folder)[1..].iter().map(|record| record["seq"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn i13_the_same_item_twice_is_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let opened = FileStore::open(folder.path(), FileOptions::new()).unwrap();
    let item = Entry::new(1, 1, EntryBody::Item(Item::user_message("once")));
    opened.store.append(&item);
    opened.store.append(&item);
    opened.store.flush().await.unwrap();
    opened.store.append(&item);
    // even under another number, as another writer might have put it
    opened.store.append(&Entry { seq: 2, ..item.clone() });
    opened.store.flush().await.unwrap();
    assert_eq!(records(folder.path()).len(), 3);
    assert_eq!(Session::read(folder.path()).unwrap().items().len(), 1);
}

#[tokio::test]
async fn what_the_server_counted_is_kept_and_changes_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let answers = || vec![Reply::text("one").usage(7, 2), Reply::text("two"), Reply::text("three")];
    let server = ScriptedServer::start(answers()).await.unwrap();
    open(&server, folder.path()).await.run("a").await.unwrap();
    let stored = FileStore::read(folder.path()).unwrap();
    let counted: Vec<_> =
        stored.entries.iter().map(|entry| entry.usage.as_ref().map(|usage| usage.prompt_tokens)).collect();
    assert_eq!(counted, [None, Some(Some(7))]);

    // an older version wrote no such field
    let file = folder.path().join("history.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let older = tempfile::tempdir().unwrap();
    let (start, rest) = text.split_once(",\"usage\":{").unwrap();
    let (_, end) = rest.split_once('}').unwrap();
    std::fs::write(older.path().join("history.json"), format!("{start}{end}")).unwrap();
    let pod = open(&server, folder.path()).await;
    pod.run("b").await.unwrap();
    let fork = tempfile::tempdir().unwrap();
    pod.fork(fork.path().join("fork")).await.unwrap();
    let forked = FileStore::read(&fork.path().join("fork")).unwrap();
    assert!(forked.entries[1].usage == stored.entries[1].usage && forked.entries.len() == 4);
    open(&server, older.path()).await.run("b").await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[1].body, requests[2].body);
}

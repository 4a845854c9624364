use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
};

use insomnia_tasks::{
    Item,
    session::{EntryBody, FileStore, Session},
    worker::{AutoCompaction, CompactError, Compaction, Event},
};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::support::{builder, check_pairs, open, texts, three_requests_a_turn};

/// Plays turns of three requests and gives summaries when asked.
fn model() -> impl Fn(&RecordedRequest, usize) -> Reply + Send + Sync + 'static {
    let asked = AtomicUsize::new(0);
    move |request, _| match request.text().contains("Summarise the conversation") {
        true => Reply::text("We did things."),
        false => three_requests_a_turn(asked.fetch_add(1, Ordering::SeqCst)),
    }
}

fn contents(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["content"].as_str().unwrap_or("-")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn i07_a_compacted_session_is_the_same_but_for_what_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(model()).await.unwrap();
    let pod = open(&server, folder.path()).await;
    assert!(matches!(pod.compact(&Compaction::default()).await.unwrap_err(), CompactError::Nothing));
    for _ in 0..5 {
        pod.run("go").await.unwrap();
    }
    assert!(pod.history().iter().any(Item::is_task_reminder));
    let before = (pod.tasks().snapshot(), pod.reminders().state(), texts(&pod.history()), pod.turn());
    let written = fs::read(folder.path().join("history.json")).unwrap();
    let compacted = pod.compact(&Compaction::default()).await.unwrap();
    assert_eq!((pod.tasks().snapshot(), pod.reminders().state(), texts(&pod.history()), pod.turn()), before);
    assert_eq!(compacted.summary, "We did things.");
    assert_eq!(compacted.replaced + compacted.kept, before.2.len());
    // I18
    let grown = fs::read(folder.path().join("history.json")).unwrap();
    assert!(grown.starts_with(written.strip_suffix(b"\n]\n").unwrap()));
    let read = Session::read(folder.path()).unwrap();
    assert_eq!((read.tasks().snapshot(), read.reminder_state(), texts(read.items()), read.turn()), before);

    let asked = server.requests().pop().unwrap().messages();
    check_pairs(&asked);
    assert!(!contents(&asked).contains(&"turn 4 is done"), "only what goes is summarised");

    pod.run("and on").await.unwrap();
    let requests = server.requests();
    let [.., first, second, third] = requests.as_slice() else { panic!() };
    let messages = first.messages();
    check_pairs(&messages);
    let contents = contents(&messages);
    assert_eq!(messages[0]["role"], "system");
    assert!(contents[0].starts_with("Be brief."));
    let summary = contents.iter().find(|text| text.contains("<session-summary>")).unwrap();
    assert!(
        summary.contains("We did things.\n\nOpen tasks") && summary.contains("- 4 [inprogress] task 4"),
        "{summary}"
    );
    assert!(contents.contains(&"turn 4 is done") && !contents.contains(&"turn 3 is done"), "{contents:?}");
    let tail = contents.iter().skip_while(|text| !text.contains("<session-summary>")).skip(1);
    assert_eq!(tail.clone().next(), Some(&"go"), "the tail begins with a turn");
    assert!(tail.take_while(|text| **text != "and on").all(|text| !text.contains("<system-reminder>")));
    // stable from then on
    for (shorter, longer) in [(first, second), (second, third)] {
        let (shorter, longer) = (shorter.messages(), longer.messages());
        assert_eq!(shorter, longer[..shorter.len()]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_summary_is_accepted_in_every_form() {
    for placement in ["system", "developer", "user", "merge"] {
        let folder = tempfile::tempdir().unwrap();
        let server = ScriptedServer::start(model()).await.unwrap();
        let pod = builder(&server, folder.path()).reminder(placement.parse().unwrap()).build().await.unwrap();
        pod.run("go").await.unwrap();
        pod.run("go").await.unwrap();
        pod.compact(&Compaction::default().keep_turns(1)).await.unwrap();
        pod.run("go").await.unwrap();
        let messages = server.requests().pop().unwrap().messages();
        let systems = messages.iter().take_while(|message| message["role"] == "system").count();
        let only = matches!(placement, "user" | "merge");
        assert_eq!(systems, if only { 1 } else { 2 }, "{placement}");
        assert_eq!(messages[systems]["role"], "user");
        assert!(contents(&messages)[systems - 1].contains("We did things."));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_summary_that_fails_or_is_empty_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let replies = vec![
        Reply::text("one"),
        Reply::text("two"),
        Reply::error(400, json!({"error": {"message": "no"}})),
        Reply::text(" \n"),
        Reply::calls([("TaskList", json!({}))]),
        Reply::text("three"),
    ];
    let server = ScriptedServer::start(replies).await.unwrap();
    let pod = open(&server, folder.path()).await;
    pod.run("a").await.unwrap();
    pod.run("b").await.unwrap();
    let written = fs::read(folder.path().join("history.json")).unwrap();
    let how = Compaction::default().prompt("Sum it up.");
    assert!(matches!(pod.compact(&how).await.unwrap_err(), CompactError::Model(_)));
    // nothing at all is an error of the call already
    assert!(matches!(pod.compact(&how).await.unwrap_err(), CompactError::Empty | CompactError::Model(_)));
    assert!(matches!(pod.compact(&how).await.unwrap_err(), CompactError::Empty));
    assert_eq!(fs::read(folder.path().join("history.json")).unwrap(), written);
    pod.run("c").await.unwrap();
    let requests = server.requests();
    assert_eq!(contents(&requests[2].messages()), ["Be brief.", "a", "one", "Sum it up."]);
    assert_eq!(contents(&requests[5].messages()), ["Be brief.", "a", "one", "b", "two", "c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_compaction_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let gate = insomnia_tasks_examples::scripted::Gate::new();
    let held = Reply::text("too late").hold(&gate);
    let replies = vec![Reply::text("one"), Reply::text("two"), held, Reply::text("three")];
    let server = ScriptedServer::start(replies).await.unwrap();
    let pod = open(&server, folder.path()).await;
    pod.run("a").await.unwrap();
    pod.run("b").await.unwrap();
    let how = Compaction::default();
    tokio::select! {
        _ = pod.compact(&how) => panic!("it is held"),
        _ = server.wait_for_requests(3) => {}
    }
    pod.run("c").await.unwrap();
    let last = server.requests().pop().unwrap().messages();
    assert_eq!(contents(&last), ["Be brief.", "a", "one", "b", "two", "c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn compacts_by_itself_when_the_window_fills_up() {
    let folder = tempfile::tempdir().unwrap();
    let replies = vec![
        Reply::text("one").usage(500, 10),
        Reply::text("two").usage(795, 5),
        Reply::text("They counted.").usage(600, 9),
        Reply::text("three").usage(100, 5),
        Reply::text("four").usage(100, 5),
    ];
    let server = ScriptedServer::start(replies).await.unwrap();
    let when = AutoCompaction::for_window(1_000).how(Compaction::default().keep_turns(1));
    let pod = builder(&server, folder.path()).auto_compaction(when).build().await.unwrap();
    for prompt in ["a", "b"] {
        let told = std::sync::Mutex::new(Vec::new());
        let listener = |event| {
            if let Event::Compacted(compacted) = event {
                told.lock().unwrap().push(compacted.usage.and_then(|usage| usage.prompt_tokens));
            }
        };
        pod.run_with(prompt, listener).await.unwrap();
        assert_eq!(told.into_inner().unwrap(), [Some(600)][usize::from(prompt == "a")..]);
    }
    let stored = FileStore::read(folder.path()).unwrap();
    let compacted = stored.entries.iter().find(|entry| matches!(entry.body, EntryBody::Compact(_))).unwrap();
    assert_eq!(compacted.usage.as_ref().unwrap().completion_tokens, Some(9));
    pod.run("c").await.unwrap();
    pod.run("d").await.unwrap();
    let requests = server.requests();
    let third = requests[3].messages();
    assert_eq!(contents(&third)[2..], ["b", "two", "c"]);
    assert!(contents(&third)[1].contains("They counted."));
    assert_eq!(requests.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn compacts_once_after_a_refusal_and_tries_again() {
    let too_long = || {
        let error = json!({"message": "too long", "type": "invalid_request_error", "code": "context_length_exceeded"});
        Reply::error(400, json!({"error": error}))
    };
    for (again, works) in [(Reply::text("three"), true), (too_long(), false)] {
        let folder = tempfile::tempdir().unwrap();
        let list = || Reply::calls([("TaskList", json!({}))]);
        let replies =
            vec![Reply::text("one"), Reply::text("two"), list(), too_long(), Reply::text("They counted."), again];
        let server = ScriptedServer::start(replies).await.unwrap();
        let when = AutoCompaction::after_refusals();
        let pod = builder(&server, folder.path()).auto_compaction(when).build().await.unwrap();
        pod.run("a").await.unwrap();
        pod.run("b").await.unwrap();
        let turn = pod.run("c").await;
        assert_eq!(turn.is_ok(), works, "{turn:?}");
        let requests = server.requests();
        assert_eq!(requests.len(), 6, "one retry");
        let last = requests[5].messages();
        check_pairs(&last);
        assert!(contents(&last)[1].contains("They counted."));
        assert_eq!(contents(&last)[2], "c", "the turn under way stays whole");
        assert_eq!(last.len(), 5);
    }
    // a single turn that is too long cannot be helped
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(vec![too_long()]).await.unwrap();
    let pod = builder(&server, folder.path()).auto_compaction(AutoCompaction::after_refusals()).build().await.unwrap();
    pod.run("a").await.unwrap_err();
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_is_measured_where_a_server_counts_only_if_asked() {
    let refusal = || Reply::error(400, json!({"error": {"message": "Unknown parameter: 'stream_options'."}}));
    for refused in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        // the second is the summary, where the first prompt was found too long
        let mut replies: Vec<_> = ["one", "two", "three", "four"].map(Reply::text).into();
        if refused {
            replies.insert(0, refusal());
        }
        let server = ScriptedServer::start(replies).await.unwrap();
        let when = AutoCompaction::for_window(2_000).how(Compaction::default().keep_turns(1));
        let pod = builder(&server, folder.path()).auto_compaction(when).build().await.unwrap();
        for prompt in ["long ".repeat(2_000), "short".to_owned(), "short".to_owned()] {
            pod.run(prompt).await.unwrap();
        }
        let asked: Vec<_> = server.requests().iter().map(|request| request.text().contains("stream_options")).collect();
        assert_eq!(asked, if refused { [true, false, false, false] } else { [true; 4] });
        let stored = FileStore::read(folder.path()).unwrap();
        let compacted = stored.entries.iter().any(|entry| matches!(entry.body, EntryBody::Compact(_)));
        assert_eq!(compacted, !refused);
        if refused {
            pod.close().await.unwrap();
            let server = ScriptedServer::start(vec![Reply::text("four")]).await.unwrap();
            let pod = builder(&server, folder.path()).auto_compaction(AutoCompaction::for_window(2_000)).build().await;
            pod.unwrap().run("again").await.unwrap();
            assert!(!server.requests()[0].text().contains("stream_options"), "what was refused is remembered");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compaction_goes_with_the_turn_before_it_and_not_with_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(model()).await.unwrap();
    let pod = open(&server, folder.path()).await;
    for _ in 0..2 {
        pod.run("go").await.unwrap();
    }
    pod.compact(&Compaction::default()).await.unwrap();
    pod.run("go").await.unwrap();
    let sent = || server.requests().pop().unwrap().text();
    pod.rewind(2).await.unwrap();
    pod.run("go another way").await.unwrap();
    assert!(sent().contains("We did things.") && !sent().contains("turn 1 is done"));
    pod.rewind(1).await.unwrap();
    pod.run("go a third way").await.unwrap();
    assert!(!sent().contains("We did things.") && sent().contains("turn 1 is done"), "{}", sent());
}

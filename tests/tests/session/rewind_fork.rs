use std::fs;

use insomnia_tasks::{
    Pod,
    pod::{ForkError, RewindError},
    session::Session,
    task::TaskStatus,
};
use insomnia_tasks_examples::scripted::{RecordedRequest, ScriptedServer};
use sha2::{Digest, Sha256};

use crate::support::{check_pairs, open, records, texts, three_requests_a_turn};

async fn server() -> ScriptedServer {
    ScriptedServer::start(|_: &RecordedRequest, number: usize| three_requests_a_turn(number)).await.unwrap()
}

fn subjects(pod: &Pod) -> Vec<String> {
    pod.tasks().list().into_iter().map(|task| format!("{} {} {}", task.taskid, task.status, task.subject)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn i09_a_rewind_takes_messages_tasks_and_counters_back() {
    let folder = tempfile::tempdir().unwrap();
    let server = server().await;
    let pod = open(&server, folder.path()).await;
    let mut ends = vec![(texts(&pod.history()), subjects(&pod), pod.reminders().state())];
    for _ in 0..4 {
        pod.run("go").await.unwrap();
        ends.push((texts(&pod.history()), subjects(&pod), pod.reminders().state()));
    }
    pod.tasks().create("after the turn, so void", "").unwrap();
    for (turn, back) in [(4, 4), (3, 3), (1, 1)] {
        pod.rewind(turn).await.unwrap();
        assert_eq!((texts(&pod.history()), subjects(&pod), pod.reminders().state()), ends[back]);
        assert_eq!(pod.turn(), turn);
        let read = Session::read(folder.path()).unwrap();
        assert_eq!(texts(read.items()), ends[back].0);
        assert_eq!(read.tasks().list(), pod.tasks().list());
        assert_eq!(read.reminder_state(), ends[back].2);
    }
    assert!(matches!(pod.rewind(2).await.unwrap_err(), RewindError::NoSuchTurn { turn: 2, last: 1 }));

    let before = server.requests().len();
    pod.run("go another way").await.unwrap();
    let next = server.requests()[before].messages();
    check_pairs(&next);
    let seen = serde_json::to_string(&next).unwrap();
    assert!(seen.contains("turn 1 is done") && !seen.contains("turn 2 is done"), "{seen}");
    pod.rewind(0).await.unwrap();
    assert!(pod.history().is_empty() && pod.tasks().list().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn i08_ids_of_tasks_are_never_given_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = server().await;
    let pod = open(&server, folder.path()).await;
    pod.run("go").await.unwrap();
    pod.run("go").await.unwrap();
    let edited = pod.tasks().create("by the host", "").unwrap();
    pod.rewind(0).await.unwrap();
    pod.close().await.unwrap();
    drop(pod);
    let pod = open(&server, folder.path()).await;
    let next = pod.tasks().create("next", "").unwrap();
    assert_eq!(next.taskid.get(), edited.taskid.get() + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn i10_a_fork_and_its_parent_never_change_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (parent, fork) = (folder.path().join("parent"), folder.path().join("fork"));
    let server = server().await;
    let pod = open(&server, &parent).await;
    pod.run("go").await.unwrap();
    pod.run(format!("go, with a long story: {}", "x".repeat(300_000))).await.unwrap();
    pod.rewind(1).await.unwrap();
    pod.run("go").await.unwrap();
    pod.tasks().create("by the host", "").unwrap();
    pod.fork(&fork).await.unwrap();
    let original = fs::read(parent.join("history.json")).unwrap();
    assert!(
        matches!(pod.fork(&fork).await.unwrap_err(), ForkError::Folder(error) if error.to_string().contains("already"))
    );

    let forked = open(&server, &fork).await;
    assert_eq!(texts(&forked.history()), texts(&pod.history()));
    assert_eq!(forked.tasks().snapshot(), pod.tasks().snapshot());
    assert_eq!(forked.reminders().state(), pod.reminders().state());
    forked.run("go this way").await.unwrap();
    forked.rewind(1).await.unwrap();
    forked.close().await.unwrap();
    assert_eq!(fs::read(parent.join("history.json")).unwrap(), original);

    let changed = fs::read(fork.join("history.json")).unwrap();
    pod.run("go that way").await.unwrap();
    pod.rewind(0).await.unwrap();
    assert_eq!(fs::read(fork.join("history.json")).unwrap(), changed);

    let (header, shared) = (&records(&fork)[0], &records(&parent));
    assert_eq!(header["parent"]["session"], shared[0]["session"]);
    let seq = header["parent"]["seq"].as_u64().unwrap() as usize;
    // without the mark of the batch that they were written in, which is the parent's own affair
    let line = |line: &str| {
        let fields = line.trim_end_matches(',').strip_suffix('}').unwrap();
        fields.split(",\"batch\":[").next().unwrap().to_owned()
    };
    let lines =
        |bytes: &[u8]| -> Vec<_> { String::from_utf8_lossy(bytes).lines().skip(1).take(seq).map(line).collect() };
    assert_eq!(lines(&changed), lines(&original));
    let mut hash = Sha256::new();
    for line in lines(&original) {
        let whole = match line.split_once("\"blob\":\"") {
            Some((before, rest)) => {
                let (name, after) = rest.split_once('"').unwrap();
                let message = fs::read_to_string(parent.join("blobs").join(name)).unwrap();
                format!("{before}\"message\":{message}{after}")
            }
            None => line,
        };
        hash.update(format!("{whole}}}\n"));
    }
    let digest: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(header["parent"]["sha256"], digest, "of the shared entries, each with its whole message");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_in_memory_can_be_taken_back_and_forked_too() {
    let folder = tempfile::tempdir().unwrap();
    let server = server().await;
    let config = async_openai::config::OpenAIConfig::new().with_api_base(server.base_url()).with_api_key("k");
    let pod = Pod::builder(&async_openai::Client::with_config(config), "m").build().await.unwrap();
    pod.run("go").await.unwrap();
    let first = subjects(&pod);
    pod.run("go").await.unwrap();
    pod.rewind(1).await.unwrap();
    assert_eq!(subjects(&pod), first);
    pod.fork(folder.path().join("kept")).await.unwrap();
    let kept = Session::read(folder.path().join("kept")).unwrap();
    assert_eq!(texts(kept.items()), texts(&pod.history()));
    assert_eq!(kept.tasks().list()[0].status, TaskStatus::InProgress);
}

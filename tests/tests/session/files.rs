use std::{fs, path::Path};

use insomnia_tasks::{
    Item,
    session::{Entry, EntryBody, FileOptions, FileStore, OpenErrorKind, Session, Storage},
};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::json;

use crate::support::{builder, check_pairs, open, three_requests_a_turn, view};

#[tokio::test(flavor = "multi_thread")]
async fn i04_opening_and_closing_adds_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(|_: &RecordedRequest, number: usize| three_requests_a_turn(number)).await;
    let server = server.unwrap();
    let pod = open(&server, folder.path()).await;
    pod.run("go").await.unwrap();
    pod.close().await.unwrap();
    drop(pod);
    let bytes = fs::read(folder.path().join("history.json")).unwrap();
    let files = names(folder.path());
    for closes in [true, false, true] {
        let pod = open(&server, folder.path()).await;
        if closes {
            pod.close().await.unwrap();
        }
        drop(pod);
        assert_eq!(fs::read(folder.path().join("history.json")).unwrap(), bytes);
        assert_eq!(names(folder.path()), files);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i05_one_writer_who_is_named_and_readers_who_never_wait() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(Reply::text("hi")).await.unwrap();
    let pod = open(&server, folder.path()).await;
    pod.run("go").await.unwrap();
    let error = builder(&server, folder.path()).build().await.unwrap_err().to_string();
    assert!(error.contains(&format!("process {} on ", std::process::id())) && error.contains("close it"), "{error}");
    assert_eq!(Session::read(folder.path()).unwrap().items().len(), 2);
    pod.close().await.unwrap();
    open(&server, folder.path()).await.run("go").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn i11_calls_and_results_are_sent_in_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let opened = FileStore::open(folder.path(), FileOptions::new()).unwrap();
    let call = |id: &str| {
        let function = json!({"name": "TaskList", "arguments": "{}"});
        json!({"id": id, "type": "function", "function": function})
    };
    let calls = |ids: &[&str]| {
        let calls: Vec<_> = ids.iter().map(|id| call(id)).collect();
        Item::from_message(&json!({"role": "assistant", "content": null, "tool_calls": calls})).unwrap()
    };
    let items = [
        Item::user_message("a"),
        calls(&["x", "y"]),
        Item::tool_message("y", "one"),
        // the process was killed here
        Item::user_message("b"),
        Item::tool_message("x", "too late"),
        calls(&["x"]),
        Item::tool_message("x", "two"),
        Item::tool_message("x", "twice"),
        Item::notification("now"),
        calls(&["z"]),
    ];
    for (seq, item) in (1..).zip(&items) {
        opened.store.append(&Entry::new(seq, 1, EntryBody::Item(item.clone())));
    }
    opened.store.close().await.unwrap();
    drop(opened);
    check_pairs(&view(&items));
    let server = ScriptedServer::start(Reply::text("hi")).await.unwrap();
    let pod = open(&server, folder.path()).await;
    pod.run("c").await.unwrap();
    let messages = server.requests()[0].messages();
    check_pairs(&messages);
    assert_eq!(messages.iter().filter(|message| message["role"] == "tool").count(), 4);
    assert_eq!(pod.history().len(), items.len() + 2, "the log is not edited");
}

#[tokio::test]
async fn i14_bytes_in_are_bytes_out() {
    let folder = tempfile::tempdir().unwrap();
    let odd = r#"{"role":"assistant","content":"\ud800 \u0000 \u00e9 é","n":1.50e1,"n":2,"x":{"seq":0,"b":[ ]}}"#;
    let big = format!(r#"{{"role":"user","content":"\ud800 {}","n":1.0}}"#, "é\\n".repeat(100_000));
    let items = [odd.to_owned(), big, r#"{"role":"tool","tool_call_id":"a","content":null}"#.to_owned()];
    let items = items.map(|json| Item::from_json(&json).unwrap());
    let opened = FileStore::open(folder.path(), FileOptions::new()).unwrap();
    for (seq, item) in (1..).zip(&items) {
        opened.store.append(&Entry::new(seq, 1, EntryBody::Item(item.clone())));
    }
    opened.store.close().await.unwrap();
    drop(opened);
    assert_eq!(Session::read(folder.path()).unwrap().items(), items);
    assert!(names(folder.path()).contains(&"blobs".to_owned()));
}

#[tokio::test]
async fn i16_at_most_a_tenth_more_than_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let opened = FileStore::open(folder.path(), FileOptions::new()).unwrap();
    let mut given = 0;
    for seq in 1..=300 {
        // results of tools, as they are: from 1.5 KB to 300 KB
        let size = [1_500, 2_000, 5_000, 20_000, 300_000][seq as usize * 7 % 5];
        let item = Item::tool_message("call_0123456789", "x".repeat(size));
        given += item.json().len();
        opened.store.append(&Entry::new(seq, seq / 3, EntryBody::Item(item)));
        if seq % 2 == 0 {
            opened.store.flush().await.unwrap();
        }
    }
    opened.store.close().await.unwrap();
    let kept = size(folder.path());
    assert!(kept as f64 <= given as f64 * 1.1, "{kept} for {given}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn i17_everything_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("deep/session");
    let server = ScriptedServer::start(Reply::text("x".repeat(300_000))).await.unwrap();
    let pod = open(&server, &session).await;
    pod.run("go").await.unwrap();
    pod.fork(folder.path().join("fork")).await.unwrap();
    pod.close().await.unwrap();
    let text = fs::read(session.join("history.json")).unwrap();
    fs::write(session.join("history.json"), [&text[..text.len() - 3], b",\n{\"torn"].concat()).unwrap();
    drop(open(&server, &session).await);
    let mut seen = 0;
    let mut folders = vec![folder.path().join("deep"), session.clone(), folder.path().join("fork")];
    while let Some(folder) = folders.pop() {
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700, "{folder:?}");
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 8, "histories, locks, reserves, blobs and what was torn: {seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn i18_nothing_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(|_: &RecordedRequest, number: usize| three_requests_a_turn(number)).await;
    let server = server.unwrap();
    let path = folder.path().join("history.json");
    let mut before = Vec::new();
    for step in 0..6 {
        let pod = open(&server, folder.path()).await;
        pod.run("go").await.unwrap();
        match step % 3 {
            0 => pod.rewind(pod.turn() - 1).await.unwrap(),
            1 => drop(pod.compact(&Default::default()).await),
            _ => pod.fork(folder.path().join(step.to_string())).await.unwrap(),
        }
        pod.close().await.unwrap();
        let now = fs::read(&path).unwrap();
        assert!(now.starts_with(before.strip_suffix(b"\n]\n").unwrap_or_default()));
        before = now;
    }
    // what a crash tore is moved, not lost
    let torn = b",\n{\"record\":\"item\",\"seq\":99,\"mess";
    fs::write(&path, [before.strip_suffix(b"\n]\n").unwrap(), torn].concat()).unwrap();
    let pod = open(&server, folder.path()).await;
    assert!(pod.damage()[0].to_string().contains("unfinished write"), "{:?}", pod.damage());
    let copy = names(folder.path()).into_iter().find(|name| name.starts_with("history.json.torn-")).unwrap();
    assert_eq!(fs::read(folder.path().join(copy)).unwrap(), torn);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_new_session_is_never_put_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let opened = FileStore::open(folder.path(), FileOptions::new()).unwrap();
    let error = FileStore::create(folder.path(), &opened.session.header, &[]).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Exists);
    let header = opened.session.header.clone();
    drop(opened);
    let error = FileStore::create(folder.path(), &header, &[]).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Exists);
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn size(folder: &Path) -> u64 {
    let history = fs::metadata(folder.join("history.json")).unwrap().len();
    let blobs = fs::read_dir(folder.join("blobs")).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    history + blobs.sum::<u64>()
}

//! Copies between folders and Postgres, forks, compactions and rewinds.

use std::fs;

use insomnia_tasks::{
    Item, Pod,
    session::{
        Entry, EntryBody, FileOptions, FileStore, Storage,
        postgres::{PostgresError, PostgresOptions, PostgresSessions},
    },
    worker::Compaction,
};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::json;

use crate::{pods::client, server::server, storage::lines};

#[tokio::test]
async fn a_session_copied_to_postgres_and_back_is_the_same_byte_for_byte() {
    let sessions = server!().sessions();
    let folder = tempfile::tempdir().unwrap();
    let (here, back) = (folder.path().join("here"), folder.path().join("back"));
    let opened = FileStore::open(&here, FileOptions::new().instructions("Be \"brief\".\n")).unwrap();
    let texts = ["é\u{0}🦀", &"large ".repeat(100_000), "'; drop table insomnia_items; --"];
    for (seq, text) in (1..).zip(texts) {
        opened.store.append(&Entry::new(seq, 1, EntryBody::Item(Item::user_message(text))));
    }
    opened.store.flush().await.unwrap();
    let later = r#"{"record":"of a later version","seq":4,"id":"x","b":1.0,"a":"\ud800"}"#;
    opened.store.append(&Entry::from_json(later).unwrap());
    let counted = format!(
        r#"{{"record":"item","seq":5,"id":"y","time":1,"turn":1,"kind":"assistant","message":{{"role":"assistant","content":"{}"}},"usage":{{"prompt_tokens":7}}}}"#,
        "long ".repeat(100_000)
    );
    opened.store.append(&Entry::from_json(&counted).unwrap());
    opened.store.close().await.unwrap();

    sessions.copy_from_folder(&here, "copied").await.unwrap();
    sessions.copy_to_folder("copied", &back).await.unwrap();
    let files = |folder: &std::path::Path| -> Vec<(String, Vec<u8>)> {
        let blobs = fs::read_dir(folder.join("blobs")).unwrap().map(|file| file.unwrap().path());
        let paths = blobs.chain([folder.join("history.json")]);
        paths.map(|path| (path.file_name().unwrap().display().to_string(), fs::read(path).unwrap())).collect()
    };
    assert_eq!(files(&here).len(), 3);
    assert!(files(&here) == files(&back), "{}", fs::read_to_string(back.join("history.json")).unwrap());

    let exists = sessions.copy_from_folder(&here, "copied").await.unwrap_err();
    assert!(matches!(exists, PostgresError::Exists { .. }), "{exists}");
    let there = sessions.copy_to_folder("copied", &back).await.unwrap_err();
    assert!(matches!(there, PostgresError::Folder(_)), "{there}");

    // and it goes on there
    let opened = sessions.open("copied", PostgresOptions::new()).await.unwrap();
    assert_eq!(opened.session.next_seq, 6);
    let usage = opened.session.entries.last().and_then(|answer| answer.usage.as_ref());
    assert_eq!(usage.and_then(|usage| usage.prompt_tokens), Some(7));
    opened.store.append(&crate::storage::entry(6, "on"));
    opened.store.flush().await.unwrap();
}

#[tokio::test]
async fn compaction_rewind_and_fork_work_as_with_files() {
    let server = server!();
    let sessions = server.sessions();
    let folder = tempfile::tempdir().unwrap();
    let file = outcome(
        async |model, place| match place {
            0 => builder(model).session(folder.path().join("one")).build().await.unwrap(),
            _ => builder(model).session(folder.path().join("fork")).build().await.unwrap(),
        },
        async |pod| pod.fork(folder.path().join("fork")).await.unwrap(),
    )
    .await;
    let postgres = outcome(
        async |model, place| {
            let name = ["branches", "branches-fork"][place];
            let options = PostgresOptions::new().take_over(true);
            builder(model).session_in_postgres(&sessions, name, options).build().await.unwrap()
        },
        async |pod| pod.fork_in_postgres(&sessions, "branches-fork").await.unwrap(),
    )
    .await;
    assert_eq!(file, postgres);

    let records = sessions.read_records("branches").await.unwrap();
    let forked = sessions.read_records("branches-fork").await.unwrap();
    let parent = forked.header.parent.clone().unwrap();
    assert_eq!(parent.session, records.header.session);
    assert!(lines(&records).starts_with(&lines(&forked)[..usize::try_from(parent.seq).unwrap()]));
    let exists = sessions.create("branches-fork", &records.header, &[]).await.unwrap_err();
    assert!(matches!(exists, PostgresError::Exists { .. }), "{exists}");
    let live = "select live_compact_seq from insomnia_sessions where session_id = $1";
    let client = server.client().await;
    let compacted: Option<i64> = client.query_one(live, &[&"branches"]).await.unwrap().get(0);
    let seq = records.entries.iter().rev().find(|entry| matches!(entry.body, EntryBody::Compact(_))).unwrap().seq;
    assert_eq!(compacted, Some(i64::try_from(seq).unwrap()));
}

fn builder(model: &ScriptedServer) -> insomnia_tasks::pod::PodBuilder {
    Pod::builder(&client(&model.base_url()), "gpt-5-mini")
}

/// What the model was sent, and what tasks are left, in a session that is compacted, rewound, forked and opened again.
async fn outcome(
    open: impl AsyncFn(&ScriptedServer, usize) -> Pod,
    fork: impl AsyncFn(&Pod),
) -> (Vec<String>, Vec<String>) {
    let model = ScriptedServer::start(|request: &RecordedRequest, number: usize| {
        let messages = request.messages();
        let asked = messages.last().unwrap()["content"].as_str().unwrap_or_default().to_owned();
        match asked.as_str() {
            "plan" => Reply::calls([("TaskCreate", json!({"subject": format!("task {number}"), "description": ""}))]),
            _ => Reply::text(format!("answer {number}")),
        }
    })
    .await
    .unwrap();
    let pod = open(&model, 0).await;
    for prompt in ["plan", "talk", "plan", "talk more"] {
        pod.run(prompt).await.unwrap();
    }
    pod.rewind(3).await.unwrap();
    pod.compact(&Compaction::default()).await.unwrap();
    pod.run("after the summary").await.unwrap();
    fork(&pod).await;
    pod.close().await.unwrap();
    let (again, forked) = (open(&model, 0).await, open(&model, 1).await);
    again.run("again").await.unwrap();
    forked.run("elsewhere").await.unwrap();
    let tasks = [&again, &forked].iter().flat_map(|pod| pod.tasks().list()).map(|task| format!("{task:?}")).collect();
    (model.requests().iter().map(RecordedRequest::text).collect(), tasks)
}

#[tokio::test]
async fn a_failed_copy_leaves_nothing() {
    let sessions: PostgresSessions = server!().sessions();
    let folder = tempfile::tempdir().unwrap();
    let missing = sessions.copy_from_folder(folder.path().join("none"), "not-there").await.unwrap_err();
    assert!(matches!(missing, PostgresError::Folder(_)), "{missing}");
    let missing = sessions.copy_to_folder("not-there", folder.path().join("none")).await.unwrap_err();
    assert!(matches!(missing, PostgresError::Missing { .. }), "{missing}");
    assert!(!folder.path().join("none").exists());
}

//! Compacted sessions are resumed from the tail of the newest compaction on.

use insomnia_tasks::{
    Pod,
    session::{
        Entry, EntryBody, NoStorage, Storage, StoredSession,
        postgres::{PostgresOptions, PostgresSessions},
    },
    worker::Compaction,
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::{json, value::RawValue};

use crate::{
    pods::client,
    server::{Server, server},
    storage::entry,
};

pub(crate) fn compact(seq: u64, tail_from: u64) -> Entry {
    let compact = json!({
        "base_seq": seq - 1, "summary": "s", "tail_from": tail_from,
        "tasks": {"next_id": 7, "applied_through": 0, "tasks": []},
        "counters": {"requests_since_last_task_management": 3, "requests_since_last_reminder": null},
    });
    Entry::new(seq, seq, EntryBody::Compact(RawValue::from_string(compact.to_string()).unwrap()))
}

async fn resumed(sessions: &PostgresSessions, name: &str) -> StoredSession {
    let options = PostgresOptions::new().take_over(true).tail_only(true);
    sessions.open(name, options).await.unwrap().session
}

/// Twenty messages, a compaction, two more messages, then these; the number of the first entry that is read.
async fn first(server: &Server, name: &str, tail_from: u64, then: Vec<Entry>) -> u64 {
    let sessions = server.sessions();
    let store = sessions.open(name, PostgresOptions::new()).await.unwrap().store;
    let entries = (1..=20).map(|seq| entry(seq, "x")).chain([compact(21, tail_from), entry(22, "a"), entry(23, "b")]);
    // some in one batch, some alone
    for (number, entry) in entries.chain(then).enumerate() {
        store.append(&entry);
        if number % 3 != 0 {
            store.flush().await.unwrap();
        }
    }
    store.close().await.unwrap();
    let some = resumed(&sessions, name).await;
    let all = sessions.read_records(name).await.unwrap();
    let (first, next_seq) = (some.entries[0].seq, some.next_seq);
    assert_eq!((next_seq, &some.header), (all.next_seq, &all.header), "{name}");
    let (part, full) = (folded(some).await, folded(all).await);
    assert_eq!((part.turn(), part.tasks().list()), (full.turn(), full.tasks().list()), "{name}");
    first
}

async fn folded(session: StoredSession) -> Pod {
    let builder = Pod::builder(&client("http://127.0.0.1:9/v1"), "gpt-5-mini");
    builder.session_in(session, NoStorage).build().await.unwrap()
}

fn rewind(seq: u64, to_seq: u64) -> Entry {
    Entry::new(seq, 22, EntryBody::Rewind { to_seq })
}

#[tokio::test]
async fn only_what_is_needed_to_go_on_is_read() {
    let server = server!();
    assert_eq!(first(server, "tail-19", 19, vec![]).await, 19);
    assert_eq!(first(server, "tail-21", 21, vec![]).await, 21, "no message is kept");
    assert_eq!(first(server, "tail-1", 1, vec![]).await, 1);
    assert_eq!(first(server, "tail-newest", 19, vec![compact(24, 22), entry(25, "c")]).await, 22);
    assert_eq!(first(server, "tail-rewound", 19, vec![rewind(24, 22)]).await, 19, "the compaction still counts");
    assert_eq!(first(server, "tail-void", 19, vec![rewind(24, 20)]).await, 1, "the compaction is void");
    assert_eq!(first(server, "tail-older", 19, vec![compact(24, 22), rewind(25, 22)]).await, 1, "the newest is void");
    assert_eq!(first(server, "tail-again", 19, vec![rewind(24, 20), compact(25, 20)]).await, 20);
}

#[tokio::test]
async fn all_is_read_where_something_is_damaged() {
    let server = server!();
    first(server, "tail-damaged", 19, vec![]).await;
    let damage = "update insomnia_items set body = '{\"record\":' where session_id = 'tail-damaged' and seq = 22";
    server.client().await.batch_execute(damage).await.unwrap();
    let session = resumed(&server.sessions(), "tail-damaged").await;
    assert_eq!((session.entries[0].seq, session.damage.len()), (1, 1));
    let damage = "update insomnia_items set body = '{}' where session_id = 'tail-damaged' and seq = 21";
    server.client().await.batch_execute(damage).await.unwrap();
    let session = resumed(&server.sessions(), "tail-damaged").await;
    assert_eq!((session.entries[0].seq, session.damage.len()), (1, 2));
}

async fn pod(sessions: &PostgresSessions, model: &ScriptedServer, name: &str) -> Pod {
    let options = PostgresOptions::new().take_over(true);
    let builder = Pod::builder(&client(&model.base_url()), "gpt-5-mini").session_in_postgres(sessions, name, options);
    builder.build().await.unwrap()
}

// one thread, which history() blocks
#[tokio::test(flavor = "current_thread")]
async fn the_rest_is_there_when_it_is_asked_for() {
    let server = server!();
    // one connection, so that none is to spare
    let manager = deadpool_postgres::Manager::new(server.url().parse().unwrap(), tokio_postgres::NoTls);
    let pool = deadpool_postgres::Pool::builder(manager).max_size(1).build().unwrap();
    let sessions = PostgresSessions::with_pool(pool);
    let model = ScriptedServer::start(Reply::text("answer")).await.unwrap();
    let first = pod(&sessions, &model, "rest").await;
    for turn in 0..6 {
        first.run(format!("prompt {turn}")).await.unwrap();
    }
    first.compact(&Compaction::default()).await.unwrap();
    first.run("after").await.unwrap();
    let history = |pod: &Pod| -> Vec<String> { pod.history().iter().map(|item| item.json().to_owned()).collect() };
    let whole = history(&first);
    assert_eq!(whole.len(), 14);
    first.close().await.unwrap();
    let kept = resumed(&sessions, "rest").await;
    assert!(kept.entries[0].seq > 1, "all was read");

    for (number, asked) in ["history", "rewind", "fork"].iter().enumerate() {
        let again = pod(&sessions, &model, "rest").await;
        match number {
            0 => assert_eq!(history(&again), whole),
            1 => {
                again.fork_in_postgres(&sessions, "rest-forked").await.unwrap();
                let forked = sessions.read("rest-forked").await.unwrap();
                assert_eq!(forked.parent().map(|parent| parent.seq > 14), Some(true));
            }
            _ => {
                again.rewind(2).await.unwrap();
                assert_eq!(history(&again), whole[..4], "{asked}");
            }
        }
        again.close().await.unwrap();
    }
    let lost = pod(&sessions, &model, "rest-forked").await;
    assert_eq!(history(&lost), whole);
}

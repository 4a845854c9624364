//! Names, ids, contents, sizes, numbers and clocks that nobody would choose.

use std::{collections::HashSet, time::Duration};

use insomnia_tasks::session::{
    Entry, FileOptions, FileStore, Storage, StorageErrorKind,
    postgres::{PostgresError, PostgresOptions, PostgresSessions},
};

use crate::{
    server::{connect, server},
    storage::{end_lease, entry, lines},
    tail::compact,
};

const NAMES: [&str; 22] = [
    "a",
    "A",
    "a ",
    " a",
    ".",
    "..",
    "/",
    "a/b",
    "a%2fb",
    "%",
    "_",
    "\\",
    "'; drop table insomnia_items; --",
    "\"",
    "$1",
    "\n",
    "\t\u{1}\u{7f}",
    "é",
    "e\u{301}",
    "🦀",
    "\u{202e}abc",
    "null",
];

#[tokio::test]
async fn names_are_told_apart_byte_for_byte() {
    let server = server!();
    let database = server.database("names", "").await;
    let sessions = PostgresSessions::connect(&server.url_of(&database)).unwrap();
    let longest = "é".repeat(100);
    let names: Vec<&str> = NAMES.into_iter().chain([longest.as_str()]).collect();
    for name in &names {
        let opened = sessions.open(name, PostgresOptions::new().owner("o\0'\u{202e}")).await.unwrap();
        assert!(opened.created, "{name:?} was there");
        sessions.notify(name, &format!("for {name}\0")).await.unwrap();
        opened.store.append(&entry(1, name));
        opened.store.close().await.unwrap();
    }
    for (number, name) in names.iter().enumerate() {
        let opened = sessions.open(name, PostgresOptions::new()).await.unwrap();
        assert!(lines(&opened.session)[0].contains(&serde_json::to_string(name).unwrap()), "{name:?}");
        let told: Vec<_> = opened.store.inbox().await.unwrap().into_iter().map(|message| message.text).collect();
        assert_eq!(told, [format!("for {name}\u{fffd}")]);
        sessions
            .create(
                &format!("{number} {name}").replace(&longest, "longest"),
                &opened.session.header,
                &opened.session.entries,
            )
            .await
            .unwrap();
    }
    let mut listed: Vec<String> = Vec::new();
    loop {
        let page = sessions.list(listed.last().map_or("", String::as_str), 7).await.unwrap();
        if page.is_empty() {
            break;
        }
        listed.extend(page.into_iter().map(|info| info.name));
    }
    let mut sorted = listed.clone();
    sorted.sort();
    assert_eq!(listed, sorted, "not in the order of bytes");
    assert!(names.iter().all(|name| listed.iter().any(|listed| listed == name)), "{listed:?}");
    assert_eq!(sessions.list("a\0b", 1).await.unwrap()[0].name, "a ", "what follows `a`");
    for name in ["x".repeat(300), "é".repeat(101), "🦀".repeat(300)] {
        let error = sessions.notify(&name, "hello").await.unwrap_err();
        assert!(matches!(error, PostgresError::Name { .. }), "{error}");
        assert!(error.to_string().len() < 300, "{error}");
    }
}

/// Lines that a file may hold and a column or an index may not.
fn odd_lines() -> Vec<String> {
    let ids = ["", "", "a\\u0000b", "same", "same", "é\\ud83e\\udd80", &"long ".repeat(1000), &"long ".repeat(1001)];
    let contents = ["\\u0000", "\\ud800", "\\udc00\\ud800 \\u0000\\/", "é", "\\\\u0000", "'; --", "\\b\\f", ""];
    let line = |(number, (id, content)): (usize, (&str, &str))| {
        let seq = number + 1;
        let time = [0, u64::MAX, 1, 1_800_000_000_000][number % 4];
        format!(
            r#"{{"record":"item","seq":{seq},"id":"{id}","time":{time},"turn":1,"kind":"user","message":{{"role":"user","content":"{content}","\u0000":null}}}}"#
        )
    };
    ids.into_iter().zip(contents).enumerate().map(line).collect()
}

#[tokio::test]
async fn ids_and_contents_that_a_column_cannot_hold_are_kept() {
    let sessions = server!().sessions();
    let odd = odd_lines();
    let entries: Vec<Entry> = odd.iter().map(|line| Entry::from_json(line).unwrap()).collect();
    // as they are written, each alone and all at once; an id that was there before stays an error
    let unique: Vec<&Entry> = entries.iter().filter(|entry| entry.seq != 5).collect();
    for (name, alone) in [("odd-alone", true), ("odd-at-once", false)] {
        let store = sessions.open(name, PostgresOptions::new()).await.unwrap().store;
        for (seq, entry) in (1..).zip(&unique) {
            store.append(&Entry { seq, ..(*entry).clone() });
            if alone {
                store.flush().await.unwrap();
            }
        }
        store.close().await.unwrap();
        assert_eq!(sessions.read_records(name).await.unwrap().entries.len(), unique.len());
    }

    // as they are copied
    let folders = tempfile::tempdir().unwrap();
    let (here, back) = (folders.path().join("here"), folders.path().join("back"));
    let opened = FileStore::open(&here, FileOptions::new().instructions("\0\u{1}é")).unwrap();
    entries.iter().for_each(|entry| opened.store.append(entry));
    opened.store.close().await.unwrap();
    sessions.copy_from_folder(&here, "odd-copied").await.unwrap();
    let read = lines(&FileStore::read(&here).unwrap());
    assert_eq!(read.len(), odd.len());
    assert_eq!(lines(&sessions.read_records("odd-copied").await.unwrap()), read);
    sessions.copy_to_folder("odd-copied", &back).await.unwrap();
    let bytes = |folder: &std::path::Path| std::fs::read(folder.join("history.json")).unwrap();
    assert!(bytes(&here) == bytes(&back), "not the same bytes");
}

#[tokio::test]
async fn large_messages_and_long_sessions() {
    let sessions = server!().sessions();
    let store = sessions.open("ten-megabytes", PostgresOptions::new()).await.unwrap().store;
    let large = "x\u{0}é\"".repeat(2_000_000);
    for seq in 1..=2 {
        store.append(&entry(seq, &large));
        store.flush().await.unwrap();
    }
    sessions.notify("ten-megabytes", &large).await.unwrap();
    assert_eq!(store.inbox().await.unwrap()[0].text.len(), large.len() + 2 * 2_000_000);
    let kept = sessions.read_records("ten-megabytes").await.unwrap();
    assert!(kept.entries.len() == 2 && kept.entries.iter().all(|entry| entry.to_json().unwrap().len() > 10_000_000));

    // 100,000 entries, a compaction near the end
    let header = kept.header;
    let mut entries: Vec<Entry> = (1..=100_000).map(|seq| entry(seq, "x")).collect();
    entries[99_800] = compact(99_801, 99_701);
    sessions.create("hundred-thousand", &header, &entries).await.unwrap();
    let opened = sessions.open("hundred-thousand", PostgresOptions::new().tail_only(true)).await.unwrap();
    assert_eq!((opened.session.entries[0].seq, opened.session.next_seq), (99_701, 100_001));
    opened.store.append(&entry(100_001, "on"));
    opened.store.flush().await.unwrap();
    assert_eq!(sessions.read_records("hundred-thousand").await.unwrap().entries.len(), 100_001);
}

#[tokio::test]
async fn ten_thousand_sessions_are_listed() {
    let server = server!();
    let database = server.database("crowd", "").await;
    let sessions = PostgresSessions::connect(&server.url_of(&database)).unwrap();
    sessions.migrate().await.unwrap();
    let client = connect(&server.url_of(&database)).await.unwrap();
    let make = "insert into insomnia_sessions (session_id, epoch, head_seq, fmt) select 's' || n, 1, n, 1 from generate_series(1, 10001) n";
    client.execute(make, &[]).await.unwrap();
    let page = sessions.list("", u32::MAX).await.unwrap();
    assert_eq!(page.len(), 10_000, "a page has an end");
    let rest = sessions.list(&page[9_999].name, u32::MAX).await.unwrap();
    assert_eq!(rest.len(), 1);
    let all: HashSet<_> = page.iter().chain(&rest).map(|info| (info.name.clone(), info.entries)).collect();
    assert!((1..=10_001).all(|n| all.contains(&(format!("s{n}"), n))));
    assert!(sessions.list("", 0).await.unwrap().is_empty());
}

/// The clocks of the owners' machines are years apart; nothing but the server's counts.
#[tokio::test]
async fn two_owners_with_wrong_clocks_take_turns_when_leases_end() {
    let server = server!();
    let clock = server.client().await;
    let sessions = [server.sessions(), server.sessions()];
    let mut stores = Vec::new();
    for turn in 1..=20_u64 {
        let options = PostgresOptions::new().owner(["ann", "bob"][(turn % 2) as usize]);
        let sessions = &sessions[(turn % 2) as usize];
        if turn > 1 {
            let early = sessions.open("skew", options.clone()).await.unwrap_err();
            assert!(matches!(early, PostgresError::InUse { .. }), "{early}");
            end_lease(&clock, "skew").await;
        }
        let opened = sessions.open("skew", options).await.unwrap();
        assert_eq!(opened.session.next_seq, turn);
        let time = [0, u64::MAX, 4_000_000_000_000, 1][(turn % 4) as usize];
        opened.store.append(&Entry { time, ..entry(turn, "x") });
        opened.store.flush().await.unwrap();
        stores.push(opened.store);
        for stale in stores.iter().rev().skip(1) {
            stale.append(&entry(1_000, "stale"));
            let fenced = stale.flush().await.unwrap_err();
            assert_eq!(fenced.kind(), StorageErrorKind::Fenced);
            // the one that came next
            assert!(fenced.to_string().contains(" by ann") || fenced.to_string().contains(" by bob"), "{fenced}");
        }
    }
    let kept = sessions[0].read_records("skew").await.unwrap();
    assert_eq!(kept.entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), (1..=20).collect::<Vec<_>>());
    let info = &sessions[0].list("skev", 1).await.unwrap()[0];
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
    assert!(info.updated.abs_diff(now) < 3_600_000, "{info:?}");
}

#[tokio::test]
async fn a_lease_without_end_is_one() {
    let sessions = server!().sessions();
    let options = PostgresOptions::new().lease(Duration::MAX);
    let store = sessions.open("for-ever", options.clone()).await.unwrap().store;
    store.append(&entry(1, "x"));
    store.flush().await.unwrap();
    let refused = sessions.open("for-ever", options).await.unwrap_err();
    assert!(matches!(refused, PostgresError::InUse { left_ms: 1_000_000_000_000.., .. }), "{refused}");
}

/// Every transaction is serialisable, and the server refuses what it cannot put into an order (SQLSTATE 40001).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conflicts_between_transactions_are_tried_again() {
    let server = server!();
    for level in ["serializable", "repeatable read"] {
        let database = server.database(&format!("strict_{}", level.len()), "").await;
        let set = format!("alter database {database} set default_transaction_isolation = '{level}'");
        server.client().await.batch_execute(&set).await.unwrap();
        let sessions = PostgresSessions::connect(&server.url_of(&database)).unwrap();
        sessions.migrate().await.unwrap();
        let owners = (0..8).map(|owner| {
            let sessions = sessions.clone();
            tokio::spawn(async move {
                for turn in 0..6 {
                    // they meet in one session, and each has one of its own
                    let taking = PostgresOptions::new().take_over(true);
                    let met = sessions.open("met", taking.clone()).await.unwrap();
                    met.store.append(&entry(met.session.next_seq, "x"));
                    if let Err(error) = met.store.flush().await {
                        assert_eq!(error.kind(), StorageErrorKind::Fenced, "{error}");
                    }
                    let own = sessions.open(&format!("own-{owner}"), taking).await.unwrap();
                    own.store.append(&entry(turn + 1, "x"));
                    own.store.flush().await.unwrap();
                    sessions.notify("met", &format!("{owner}-{turn}")).await.unwrap();
                }
            })
        });
        for owner in futures_util::future::join_all(owners).await {
            owner.unwrap();
        }
        let met = sessions.open("met", PostgresOptions::new().take_over(true)).await.unwrap();
        assert!(met.session.damage.is_empty());
        let told: HashSet<_> = met.store.inbox().await.unwrap().into_iter().map(|message| message.text).collect();
        assert_eq!(told.len(), 48, "{level}");
        for owner in 0..8 {
            assert_eq!(sessions.read_records(&format!("own-{owner}")).await.unwrap().next_seq, 7, "{level}");
        }
    }
}

#[tokio::test]
async fn a_session_that_was_deleted_says_so() {
    let server = server!();
    let sessions = server.sessions();
    let store = sessions.open("deleted", PostgresOptions::new()).await.unwrap().store;
    for table in ["insomnia_sessions", "insomnia_items"] {
        let delete = format!("delete from {table} where session_id = 'deleted'");
        server.client().await.batch_execute(&delete).await.unwrap();
    }
    store.append(&entry(1, "x"));
    let error = store.flush().await.unwrap_err();
    assert!(
        error.kind() == StorageErrorKind::Failed && error.to_string().contains("no longer in the database"),
        "{error}"
    );
    assert!(sessions.open("deleted", PostgresOptions::new()).await.unwrap().created);
}

/// As where a server takes over that never got the last commits.
#[tokio::test]
async fn a_session_that_lost_what_was_acknowledged_says_so() {
    let server = server!();
    let sessions = server.sessions();
    let store = sessions.open("went-back", PostgresOptions::new()).await.unwrap().store;
    for seq in 1..=3 {
        store.append(&entry(seq, "x"));
        store.flush().await.unwrap();
    }
    let client = server.client().await;
    client.batch_execute("update insomnia_sessions set head_seq = 1 where session_id = 'went-back'").await.unwrap();
    client.batch_execute("delete from insomnia_items where session_id = 'went-back' and seq > 1").await.unwrap();
    store.append(&entry(4, "y"));
    let error = store.flush().await.unwrap_err();
    assert_eq!(error.kind(), StorageErrorKind::OtherWriter, "{error}");
    assert!(error.to_string().contains("1 entries in place of 3"), "{error}");
    assert_eq!(sessions.read_records("went-back").await.unwrap().next_seq, 2, "something was merged");
}

#[tokio::test]
async fn tables_that_someone_has_changed_are_an_error() {
    let server = server!();
    let database = server.database("changed", "").await;
    let sessions = PostgresSessions::connect(&server.url_of(&database)).unwrap();
    let store = sessions.open("first", PostgresOptions::new()).await.unwrap().store;
    let client = connect(&server.url_of(&database)).await.unwrap();
    let change = "alter table insomnia_sessions alter head_seq type numeric, alter epoch type numeric;
        alter table insomnia_inbox alter body type bytea using body::bytea;
        alter table insomnia_schema alter version type text";
    client.batch_execute(change).await.unwrap();
    let message = "insert into insomnia_inbox (session_id, item_id, body) values ('first', 'a', 'b')";
    client.batch_execute(message).await.unwrap();
    store.append(&entry(2, "gap"));
    let errors = [
        sessions.open("first", PostgresOptions::new().take_over(true)).await.map(|_| ()).unwrap_err().to_string(),
        sessions.list("", 10).await.unwrap_err().to_string(),
        PostgresSessions::connect(&server.url_of(&database)).unwrap().migrate().await.unwrap_err().to_string(),
        store.inbox().await.unwrap_err().to_string(),
    ];
    for error in errors {
        assert!(error.contains("unusable answer") && error.contains("schema_sql"), "{error}");
    }
}

/// More than one statement should carry.
#[tokio::test]
async fn a_batch_of_75_megabytes_is_written_in_pieces() {
    let server = server!();
    let sessions = server.sessions();
    let store = sessions.open("batch", PostgresOptions::new()).await.unwrap().store;
    sessions.notify("batch", "psst").await.unwrap();
    let told = store.inbox().await.unwrap().remove(0);
    let mut entries: Vec<Entry> = (1..=3).map(|seq| entry(seq, &"0123456789".repeat(2_500_000))).collect();
    entries[2].id = told.id;
    entries.iter().for_each(|entry| store.append(entry));
    store.flush().await.unwrap();
    let client = server.client().await;
    let written = "select count(*), count(distinct created) from insomnia_items where session_id = 'batch' and seq > 0";
    let row = client.query_one(written, &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (3, 2));
    let row = client.query_one("select count(*) from insomnia_inbox where session_id = 'batch'", &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 0, "the message is still there");
}

use std::{path::Path, sync::Arc};

use super::{
    FileOptions, FileStore, Opened,
    sim_disk::SimDisk,
    tests::{block_on, history, user},
};
use crate::session::{Damage, Entry, EntryBody, Session, Storage};

fn open(disk: &SimDisk, tail_only: bool) -> Opened {
    FileStore::open_on(Arc::new(disk.clone()), Path::new("s"), FileOptions::new().tail_only(tail_only)).unwrap()
}

fn compact(seq: u64, tail_from: u64) -> Entry {
    let tasks = r#"{"next_id":7,"applied_through":0,"tasks":[]}"#;
    let counters = r#"{"requests_since_last_task_management":3,"requests_since_last_reminder":null}"#;
    let base = seq - 1;
    let compact =
        format!(r#"{{"base_seq":{base},"summary":"s","tail_from":{tail_from},"tasks":{tasks},"counters":{counters}}}"#);
    Entry::new(seq, seq, EntryBody::Compact(serde_json::value::RawValue::from_string(compact).unwrap()))
}

/// Twenty messages, a compaction that keeps the last two, two more; `then` follows.
fn disk(tail_from: u64, then: impl IntoIterator<Item = Entry>) -> SimDisk {
    let disk = SimDisk::default();
    let Opened { store, .. } = open(&disk, false);
    let text = format!("{{\"record\":\"compact\",\"seq\":9, {}", "x".repeat(30_000));
    let entries = (1..=20).map(|seq| user(seq, &text)).chain([compact(21, tail_from), user(22, "a"), user(23, "b")]);
    for entry in entries.chain(then) {
        store.append(&entry);
        block_on(store.flush()).unwrap();
    }
    disk
}

fn first(disk: &SimDisk) -> u64 {
    let Opened { session, store, .. } = open(disk, true);
    drop(store);
    let all = open(disk, false).session;
    let (some, full) = (Session::fold_stored(&session), Session::fold_stored(&all));
    assert_eq!((some.turn, some.counters, some.tasks.snapshot()), (full.turn, full.counters, full.tasks.snapshot()));
    assert!(full.items.ends_with(&some.items));
    assert_eq!(some.summary(), full.summary());
    assert_eq!(session.next_seq, all.next_seq);
    session.entries[0].seq
}

#[test]
fn only_the_tail_of_a_compacted_session_is_read() {
    assert_eq!(first(&disk(19, [])), 19);
    assert_eq!(first(&disk(21, [])), 21, "no message is kept");
    assert_eq!(first(&disk(1, [])), 1);
    let again = [compact(24, 22), user(25, "c")];
    assert_eq!(first(&disk(19, again)), 22, "the newest counts");
    assert_eq!(first(&disk(19, [Entry::new(24, 22, EntryBody::Rewind { to_seq: 22 })])), 19);
}

#[test]
fn all_is_read_where_the_tail_does_not_do() {
    assert_eq!(first(&disk(19, [Entry::new(24, 5, EntryBody::Rewind { to_seq: 20 })])), 1, "the compaction is void");
    let disk = disk(19, []);
    disk.change(&history(), |bytes| {
        let text = String::from_utf8_lossy(bytes).replace("\"content\":\"a\"", "\"content\":\"a");
        *bytes = text.into_bytes();
    });
    let Opened { session, .. } = open(&disk, true);
    assert_eq!(session.entries[0].seq, 1);
    assert!(matches!(session.damage[..], [Damage::Line { line: 23, .. }]), "{:?}", session.damage);
}

#[test]
fn a_torn_tail_is_cut_where_it_begins() {
    let disk = disk(19, []);
    let before = disk.bytes(&history());
    disk.change(&history(), |bytes| {
        bytes.truncate(bytes.len() - 3);
        bytes.extend_from_slice(b",\n{\"record\":\"item\",\"se");
    });
    let Opened { session, store, .. } = open(&disk, true);
    assert_eq!((session.entries[0].seq, session.next_seq), (19, 24));
    assert_eq!(disk.bytes(&history()), before);
    store.append(&user(24, "on"));
    block_on(store.flush()).unwrap();
    drop(store);
    assert_eq!(open(&disk, false).session.entries.len(), 24);
}

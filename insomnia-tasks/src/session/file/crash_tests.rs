use std::{
    future::Future,
    path::Path,
    pin::pin,
    sync::Arc,
    task::{Context, Waker},
};

use super::{
    Durability, FileOptions, FileStore, Opened, StoredSession,
    blobs::BLOB_FROM,
    sim_disk::{Fault, SimDisk},
    tests::{block_on, history, messages, user},
};
use crate::session::{Storage, StorageErrorKind};

fn open(disk: &SimDisk) -> Result<Opened, super::OpenError> {
    FileStore::open_on(Arc::new(disk.clone()), Path::new("s"), FileOptions::new().instructions("be brief"))
}

/// What a script asked for and was promised.
#[derive(Default)]
struct Promises {
    asked: Vec<String>,
    acknowledged: usize,
    /// How much had been asked at each attempt to flush: where batches end.
    ends: Vec<usize>,
}

impl Promises {
    /// Batches of 2, 1 and 3 entries and a last one after a reopen; each failed flush is tried once more.
    fn run(disk: &SimDisk) -> Self {
        let mut promises = Self { ends: vec![0], ..Self::default() };
        for batches in [&[2, 1, 3][..], &[1]] {
            let Ok(Opened { store, session, .. }) = open(disk) else { return promises };
            let mut seq = session.next_seq;
            for count in batches {
                for _ in 0..*count {
                    let entry = user(seq, &format!("message {seq} {}", "é".repeat(40)));
                    promises.asked.extend(messages(std::slice::from_ref(&entry)));
                    store.append(&entry);
                    seq += 1;
                }
                promises.ends.push(promises.asked.len());
                if block_on(store.flush()).is_ok() || block_on(store.flush()).is_ok() {
                    promises.acknowledged = promises.asked.len();
                }
            }
            if promises.acknowledged < promises.asked.len() {
                break;
            }
        }
        promises
    }

    fn check(&self, disk: &SimDisk, case: &str) {
        let Opened { session, store, .. } = open(disk).unwrap_or_else(|error| panic!("{case}: {error}"));
        let found = messages(&session.entries);
        assert!(found.len() >= self.acknowledged, "{case}: {} of {}", found.len(), self.acknowledged);
        assert!(self.asked.starts_with(&found), "{case}: not a prefix: {found:?}");
        assert!(self.ends.contains(&found.len()), "{case}: part of a batch: {} of {:?}", found.len(), self.ends);
        assert_eq!(session.next_seq, found.len() as u64 + 1, "{case}");
        drop(store);
        let (bytes, others) = (disk.bytes(&history()), disk.others());
        serde_json::from_slice::<Vec<serde_json::Value>>(&bytes).unwrap_or_else(|error| panic!("{case}: {error}"));
        let again = open(disk).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert!(again.session.damage.is_empty(), "{case}: {:?}", again.session.damage);
        assert_eq!(
            (disk.bytes(&history()), disk.others()),
            (bytes, others),
            "{case}: a second recovery changed something"
        );
    }
}

#[test]
fn a_failure_at_any_call_loses_nothing_acknowledged() {
    let calls = {
        let disk = SimDisk::default();
        assert_eq!(Promises::run(&disk).acknowledged, 7);
        disk.calls()
    };
    for fault in [Fault::ShortWrite, Fault::Full, Fault::Io, Fault::LostFlush, Fault::DeadFlush] {
        for at in 1..=calls {
            let disk = SimDisk::with_fault(at, fault);
            let promises = Promises::run(&disk);
            if matches!(fault, Fault::ShortWrite) {
                assert_eq!(promises.acknowledged, 7, "{fault:?} at {at}");
            }
            disk.mend();
            promises.check(&disk.reboot(at as u64), &format!("{fault:?} at {at}, then a crash"));
            promises.check(&disk, &format!("{fault:?} at {at}"));
        }
    }
}

#[test]
fn a_crash_at_any_call_leaves_whole_batches() {
    for at in 1.. {
        let disk = SimDisk::with_fault(at, Fault::Crash);
        let promises = Promises::run(&disk);
        for seed in 0..200 {
            promises.check(&disk.reboot(seed), &format!("crash at {at}, seed {seed}"));
        }
        if disk.calls() < at {
            break;
        }
    }
}

#[test]
fn every_folder_that_was_made_is_there_after_a_crash() {
    let (disk, dir) = (SimDisk::default(), Path::new("a/b/c/s"));
    let open = |disk: SimDisk| FileStore::open_on(Arc::new(disk), dir, FileOptions::new()).unwrap();
    let Opened { store, .. } = open(disk.clone());
    store.append(&user(1, &"b".repeat(BLOB_FROM)));
    block_on(store.flush()).unwrap();
    for seed in 0..50 {
        let session = open(disk.reboot(seed)).session;
        assert_eq!((session.entries.len(), session.damage.len()), (1, 0), "seed {seed}");
    }
}

#[test]
fn what_a_failed_flush_left_without_a_durable_name_is_flushed_by_the_next_attempt() {
    let dir = Path::new("a/b/c/s");
    let attempt = |disk: &SimDisk| {
        let Ok(Opened { store, session, .. }) = FileStore::open_on(Arc::new(disk.clone()), dir, FileOptions::new())
        else {
            return false;
        };
        if session.entries.is_empty() {
            store.append(&user(1, &"b".repeat(BLOB_FROM)));
        }
        block_on(store.flush()).is_ok()
    };
    let calls = {
        let disk = SimDisk::default();
        assert!(attempt(&disk));
        disk.calls()
    };
    for fault in [Fault::Io, Fault::LostFlush] {
        for at in 1..=calls {
            let disk = SimDisk::with_fault(at, fault);
            assert!(attempt(&disk) || attempt(&disk), "{fault:?} at {at}");
            for seed in 0..20 {
                let case = format!("{fault:?} at {at}, seed {seed}");
                let opened = FileStore::open_on(Arc::new(disk.reboot(seed)), dir, FileOptions::new());
                let session = opened.unwrap_or_else(|error| panic!("{case}: {error}")).session;
                assert_eq!((session.entries.len(), session.damage.len()), (1, 0), "{case}");
            }
        }
    }
}

#[test]
fn only_full_durability_waits_for_the_disk() {
    for (durability, flushes) in [(Durability::Full, 4), (Durability::Os, 0)] {
        let disk = SimDisk::default();
        drop(open(&disk).unwrap());
        let options = FileOptions::new().durability(durability);
        let Opened { store, .. } = FileStore::open_on(Arc::new(disk.clone()), Path::new("s"), options).unwrap();
        let before = disk.flushes();
        for seq in 1..=3 {
            let text = if seq == 3 { "b".repeat(BLOB_FROM) } else { "small".to_owned() };
            store.append(&user(seq, &text));
            block_on(store.flush()).unwrap();
        }
        assert_eq!(disk.flushes() - before, flushes, "one a batch, and one for the large message");
    }
}

#[test]
fn goes_on_after_a_full_disk() {
    let disk = SimDisk::default();
    let Opened { store, .. } = open(&disk).unwrap();
    store.append(&user(1, "one"));
    block_on(store.flush()).unwrap();
    let before = disk.bytes(&history());

    disk.fail_from_now(Fault::Full);
    store.append(&user(2, "two"));
    for _ in 0..3 {
        assert_eq!(block_on(store.flush()).unwrap_err().kind(), StorageErrorKind::Full);
        assert_eq!(disk.bytes(&history()), before, "the bracket is back");
    }
    store.append(&user(3, "three"));
    disk.mend();
    block_on(store.flush()).unwrap();
    assert_eq!(read(&disk).next_seq, 4);
}

#[test]
fn the_reserve_closes_the_array_where_overwriting_takes_room() {
    let disk = SimDisk::default();
    let Opened { store, .. } = open(&disk).unwrap();
    store.append(&user(1, "one"));
    block_on(store.flush()).unwrap();
    let before = disk.bytes(&history());

    disk.fail_from_now(Fault::NoRoom);
    store.append(&user(2, "two"));
    assert_eq!(block_on(store.flush()).unwrap_err().kind(), StorageErrorKind::Full);
    assert_eq!(disk.bytes(&history()), before);
    let reserve = Path::new("s").join("history.reserve");
    assert!(!disk.has(&reserve), "it was given up");
    block_on(store.flush()).unwrap();
    assert!(disk.has(&reserve), "and is set aside again");
    assert_eq!(read(&disk).next_seq, 3);
}

#[test]
fn gives_up_when_flushing_fails_for_good() {
    let disk = SimDisk::default();
    let Opened { store, .. } = open(&disk).unwrap();
    store.append(&user(1, "one"));
    disk.fail_from_now(Fault::DeadFlush);
    assert_eq!(block_on(store.flush()).unwrap_err().kind(), StorageErrorKind::Failed);
    disk.mend();
    assert_eq!(block_on(store.flush()).unwrap_err().kind(), StorageErrorKind::Failed, "and stays so");
    drop(store);
    assert_eq!(open(&disk).unwrap().session.entries.len(), 0);
}

#[test]
fn rewrites_what_a_failed_flush_lost() {
    let disk = SimDisk::default();
    let Opened { store, .. } = open(&disk).unwrap();
    store.append(&user(1, "one"));
    // opening, what file it is, the length, the write, the flush
    disk.fail_after(4, Fault::LostFlush);
    block_on(store.flush()).unwrap();
    assert_eq!(open_durable(&disk).entries.len(), 1);
}

#[test]
fn stops_when_another_writer_was_there() {
    let disk = SimDisk::default();
    let Opened { store, .. } = open(&disk).unwrap();
    store.append(&user(1, "one"));
    disk.change(&history(), |bytes| bytes.extend_from_slice(b" "));
    let before = disk.bytes(&history());
    let error = block_on(store.flush()).unwrap_err();
    assert_eq!(error.kind(), StorageErrorKind::OtherWriter, "{error}");
    assert_eq!(disk.bytes(&history()), before);
    disk.change(&history(), |bytes| bytes.truncate(bytes.len() - 1));
    block_on(store.flush()).unwrap();
}

#[test]
fn a_dropped_flush_loses_and_doubles_nothing() {
    let disk = SimDisk::default();
    let Opened { store, .. } = open(&disk).unwrap();
    store.append(&user(1, "one"));
    block_on(async {
        {
            let closed = disk.gate.lock().unwrap();
            let calls = disk.calls();
            {
                let mut flush = pin!(store.flush());
                assert!(flush.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            }
            // until the batch is made up and the length was asked for
            while disk.calls() == calls {
                std::thread::yield_now();
            }
            store.append(&user(2, "two"));
            drop(closed);
        }
        store.flush().await.unwrap();
    });
    let texts = [user(1, "one"), user(2, "two")];
    assert_eq!(messages(&read(&disk).entries), messages(&texts));
    block_on(store.close()).unwrap();
    assert!(open(&disk).is_ok(), "closing gives the lock back");
    store.append(&user(3, "three"));
    assert_eq!(block_on(store.flush()).unwrap_err().kind(), StorageErrorKind::Closed);
}

fn read(disk: &SimDisk) -> StoredSession {
    super::open::read(&(Arc::new(disk.clone()) as Arc<dyn super::disk::Disk>), Path::new("s")).unwrap()
}

fn open_durable(disk: &SimDisk) -> StoredSession {
    // a seed makes no difference where all is flushed
    open(&disk.reboot(1)).unwrap().session
}

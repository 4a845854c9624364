//! A script of 200 steps, crashed or failed at every storage call.

use std::{path::Path, sync::Arc};

use super::{
    FileOptions, FileStore, Opened,
    blobs::BLOB_FROM,
    sim_disk::{Fault, SimDisk},
    tests::{block_on, history, messages, user},
};
use crate::session::{Entry, EntryBody, Storage};

const STEPS: u64 = 200;

fn open(disk: &SimDisk) -> Result<Opened, super::OpenError> {
    FileStore::open_on(Arc::new(disk.clone()), Path::new("s"), FileOptions::new())
}

/// What was asked for in order, how much of it was acknowledged, and where batches end.
#[derive(Default)]
struct Run {
    asked: Vec<Entry>,
    acknowledged: usize,
    ends: Vec<usize>,
    finished: bool,
}

impl Run {
    fn new(disk: &SimDisk) -> Self {
        let mut run = Self { ends: vec![0], ..Self::default() };
        let Ok(mut opened) = open(disk) else { return run };
        for step in 0..STEPS {
            if step % 23 == 22 {
                drop(opened);
                let Ok(again) = open(disk) else { return run };
                opened = again;
            }
            for number in 0..=step % 3 {
                let seq = run.asked.len() as u64 + 1;
                let entry = match (step % 7, number) {
                    (5, 0) => Entry::new(seq, 1, EntryBody::Rewind { to_seq: seq / 2 }),
                    (6, 0) => Entry::new(seq, 1, EntryBody::Instructions(format!("be {step}"))),
                    _ if step == 100 => user(seq, &"b".repeat(BLOB_FROM)),
                    _ => user(seq, &format!("{step} {}", "é".repeat(step as usize % 11))),
                };
                opened.store.append(&entry);
                run.asked.push(entry);
            }
            run.ends.push(run.asked.len());
            if block_on(opened.store.flush()).is_err() && block_on(opened.store.flush()).is_err() {
                return run;
            }
            run.acknowledged = run.asked.len();
        }
        run.finished = true;
        run
    }

    fn check(&self, disk: &SimDisk, case: &str) {
        let Opened { session, store, .. } = open(disk).unwrap_or_else(|error| panic!("{case}: {error}"));
        let found = &session.entries;
        assert!(found.len() >= self.acknowledged, "{case}: {} of {}", found.len(), self.acknowledged);
        assert!(self.ends.contains(&found.len()), "{case}: part of a batch: {}", found.len());
        assert!(found.iter().zip(&self.asked).all(|(found, asked)| found.id == asked.id), "{case}: not a prefix");
        assert_eq!(messages(found), messages(&self.asked[..found.len()]), "{case}");
        drop(store);
        serde_json::from_slice::<Vec<serde::de::IgnoredAny>>(&disk.bytes(&history()))
            .unwrap_or_else(|error| panic!("{case}: {error}"));
    }
}

#[test]
fn a_crash_at_every_call_of_200_steps_loses_nothing_acknowledged() {
    let mut at = 1;
    loop {
        let disk = SimDisk::with_fault(at, Fault::Crash);
        let run = Run::new(&disk);
        for seed in 0..2 {
            run.check(&disk.reboot(seed + at as u64 * 2), &format!("crash at {at}, seed {seed}"));
        }
        if run.finished {
            break;
        }
        at += 1;
    }
    assert!(at > 600, "every step makes storage calls: {at}");
}

#[test]
fn a_failure_at_every_call_of_200_steps_loses_nothing_acknowledged() {
    let calls = {
        let disk = SimDisk::default();
        assert!(Run::new(&disk).finished);
        disk.calls()
    };
    // each kind at every fifth call, together at all of them; a long run tries each kind at all
    let step = if std::env::var_os("INSOMNIA_ALL_FAILURES").is_some() { 1 } else { 5 };
    for (number, fault) in
        [Fault::ShortWrite, Fault::Full, Fault::NoRoom, Fault::Io, Fault::LostFlush].into_iter().enumerate()
    {
        for at in (1 + number % step..=calls).step_by(step) {
            let disk = SimDisk::with_fault(at, fault);
            let run = Run::new(&disk);
            disk.mend();
            run.check(&disk, &format!("{fault:?} at {at}"));
        }
    }
}

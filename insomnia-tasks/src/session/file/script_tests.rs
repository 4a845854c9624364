//! A script of 200 steps, crashed or failed at every storage call.

use std::{path::Path, sync::Arc};

use serde::Deserialize;
use serde_json::json;

use super::{
    FileOptions, FileStore, Opened,
    blobs::BLOB_FROM,
    sim_disk::{Fault, SimDisk},
    tests::{block_on, history, messages, user},
};
use crate::{
    Item,
    session::{Entry, EntryBody, Session, Storage, StoredSession},
    wire::{Dialect, Projection},
};

const STEPS: u64 = 200;

fn open(disk: &SimDisk) -> Result<Opened, super::OpenError> {
    FileStore::open_on(Arc::new(disk.clone()), Path::new("s"), FileOptions::new())
}

/// A prompt, two calls, their results, an answer, and so on.
fn message(seq: u64, text: &str) -> Entry {
    let call = |number: u64| {
        let function = json!({"name": "TaskList", "arguments": "{}"});
        json!({"id": format!("call_{}_{number}", seq / 5), "type": "function", "function": function})
    };
    let item = match seq % 5 {
        1 => return user(seq, text),
        2 => {
            let calls = json!({"role": "assistant", "content": text, "tool_calls": [call(0), call(1)]});
            Item::from_message(&calls).unwrap()
        }
        3 => Item::tool_message(format!("call_{}_0", seq / 5), text),
        4 => Item::tool_message(format!("call_{}_1", seq / 5), text),
        _ => Item::assistant_message(text),
    };
    Entry::new(seq, 1, EntryBody::Item(item))
}

#[derive(Deserialize)]
struct Sent {
    tool_call_id: Option<String>,
    #[serde(default)]
    tool_calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    id: String,
}

/// What is sent when a turn begins on what was found: each call has one result, right behind it.
fn check_sent(session: &StoredSession, case: &str) {
    let mut projection = Projection::new(Dialect::default(), None);
    projection.extend(Session::fold_stored(session).items());
    projection.extend(&[Item::user_message("go on")]);
    let mut open: Vec<Call> = Vec::new();
    for sent in projection.messages().iter() {
        let sent: Sent = serde_json::from_str(sent.get()).unwrap();
        if let Some(result) = sent.tool_call_id {
            let place = open.iter().position(|call| call.id == result);
            open.remove(place.unwrap_or_else(|| panic!("{case}: a result without a call")));
            continue;
        }
        assert!(open.is_empty(), "{case}: a call without a result");
        open = sent.tool_calls;
    }
    assert!(open.is_empty(), "{case}: a call without a result at the end");
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
                    _ if step == 100 => message(seq, &"b".repeat(BLOB_FROM)),
                    _ => message(seq, &format!("{step} {}", "é".repeat(step as usize % 11))),
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
        check_sent(&session, case);
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
    println!("{at} crashes");
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
    let mut failures = 0;
    for (number, fault) in
        [Fault::ShortWrite, Fault::Full, Fault::NoRoom, Fault::Io, Fault::LostFlush].into_iter().enumerate()
    {
        for at in (1 + number % step..=calls).step_by(step) {
            let disk = SimDisk::with_fault(at, fault);
            let run = Run::new(&disk);
            disk.mend();
            run.check(&disk, &format!("{fault:?} at {at}"));
            failures += 1;
        }
    }
    println!("{failures} failures");
}

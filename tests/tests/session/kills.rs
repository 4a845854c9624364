use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use insomnia_tasks::{
    Item,
    session::{Damage, Entry, EntryBody, FileOptions, FileStore, Session, Storage},
};
use serde_json::json;

use crate::support::{check_pairs, view};

/// How often a writer is killed: `INSOMNIA_KILLS`, or as often as every build should.
fn kills() -> u64 {
    std::env::var("INSOMNIA_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(2_000)
}

/// How many records make one write of several megabytes, each of them just too small for a file of its own.
const LARGE_BATCH: u64 = 16;

/// The record of this number: a prompt, two calls, their results, an answer, and so on, 1 KB to 8 MB large.
fn record(seq: u64, large_from: u64) -> EntryBody {
    let dice = seq.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let size = match dice % 500 {
        _ if seq >= large_from => 261_000,
        0 => 8_000_000,
        1..5 => 300_000,
        5..50 => 220_000,
        _ => 1_000 + dice as usize % 1_000,
    };
    let text = format!("{seq} {}", "x".repeat(size));
    let call = |number: u64| {
        let function = json!({"name": "TaskList", "arguments": "{}"});
        json!({"id": format!("call_{}_{number}", seq / 5), "type": "function", "function": function})
    };
    EntryBody::Item(match seq % 5 {
        1 => Item::user_message(text),
        2 => {
            let message = json!({"role": "assistant", "content": text, "tool_calls": [call(0), call(1)]});
            Item::from_message(&message).unwrap()
        }
        3 => Item::tool_message(format!("call_{}_0", seq / 5), text),
        4 => Item::tool_message(format!("call_{}_1", seq / 5), text),
        _ => Item::assistant_message(text),
    })
}

#[test]
#[ignore = "the child of another test"]
fn appends_until_it_is_killed() {
    let Ok(folder) = std::env::var("INSOMNIA_TEST_SESSION") else { return };
    let opened = FileStore::open(Path::new(&folder), FileOptions::new()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut seq = opened.session.next_seq;
    let large_from = std::env::var("INSOMNIA_TEST_LARGE_FROM").unwrap().parse().unwrap();
    println!("\nacknowledged {}", seq - 1);
    loop {
        for _ in 0..if seq >= large_from { LARGE_BATCH } else { seq % 3 + 1 } {
            opened.store.append(&Entry::new(seq, 1, record(seq, large_from)));
            seq += 1;
        }
        runtime.block_on(opened.store.flush()).unwrap();
        println!("acknowledged {}", seq - 1);
    }
}

/// Kills a writer, and returns the last number that it acknowledged: after some acknowledgements and a moment, or, where it
/// writes megabytes at once, when the file begins to grow.
fn kill_one(folder: &Path, dice: u64, large_from: u64) -> u64 {
    let size = || fs::metadata(folder.join("history.json")).map_or(0, |file| file.len());
    let before = size();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::appends_until_it_is_killed", "--ignored", "--nocapture"])
        .env("INSOMNIA_TEST_SESSION", folder)
        .env("INSOMNIA_TEST_LARGE_FROM", large_from.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut numbers = lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("acknowledged ")?.parse().ok());
    let mut last;
    if large_from < u64::MAX {
        last = numbers.next().unwrap();
        while size() <= before + dice % 2_000_000 {
            assert!(child.try_wait().unwrap().is_none(), "the writer ended by itself");
        }
    } else {
        last = numbers.by_ref().take(1 + dice as usize % 3).last().unwrap();
        // in the midst of the next one: no event tells when that is
        let (from, moment) = (Instant::now(), Duration::from_micros(dice / 3 % 6_000));
        while from.elapsed() < moment {
            thread::yield_now();
        }
    }
    child.kill().unwrap();
    last = numbers.last().unwrap_or(last);
    child.wait().unwrap();
    last
}

/// As many rounds of writing, killing and opening again; returns in how many a write was torn.
fn rounds(seed: u64, count: u64) -> u64 {
    let mut torn = 0;
    let mut dice = seed;
    let mut done = 0;
    while done < count {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.json");
        let mut large_from = u64::MAX;
        let mut kept = 0;
        for round in 0..25.min(count - done) {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // the last one of a folder, as what it leaves would be read again in each round that follows
            if round == 24 {
                large_from = kept + 1;
            }
            let last = kill_one(folder.path(), dice >> 33, large_from);
            let left = fs::read(&path).unwrap();
            let opened = FileStore::open(folder.path(), FileOptions::new()).unwrap();
            if let Some(Damage::TornTail { bytes, kept_in }) = opened.session.damage.first() {
                let cut = fs::read(kept_in.as_ref().unwrap()).unwrap();
                assert!(cut.len() as u64 == *bytes && left.ends_with(&cut), "what was cut is kept");
                torn += 1;
            }
            let found = &opened.session.entries;
            kept = found.len() as u64;
            assert!(kept >= last, "{kept} of {last}");
            for (seq, entry) in (1..).zip(found) {
                let (EntryBody::Item(asked), EntryBody::Item(kept)) = (record(seq, large_from), &entry.body) else {
                    panic!()
                };
                assert!(entry.seq == seq && asked == *kept, "record {seq} is not what it was");
            }
            drop(opened);
            check_pairs(&view(Session::read(folder.path()).unwrap().items()));
            done += 1;
        }
    }
    torn
}

#[test]
fn i01_i02_what_was_acknowledged_survives_every_kill() {
    let count = kills();
    let from = Instant::now();
    let torn: u64 = thread::scope(|scope| {
        let halves = [1, 2].map(|seed| scope.spawn(move || rounds(seed, count.div_ceil(2))));
        halves.into_iter().map(|half| half.join().unwrap()).sum()
    });
    let mut out = std::io::stdout();
    assert!(torn > 0 || count < 1_000, "no kill came in the midst of a write");
    writeln!(out, "{count} kills, {torn} of them tore a write, {:?}", from.elapsed()).unwrap();
}

//! What sessions on disk cost: `cargo bench -p insomnia-tasks-tests --bench session`. Prints a table for
//! `docs/session-figures.md`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a bench, where these are the failure

use std::{
    env, fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{
    Item, Pod,
    session::{Durability, Entry, EntryBody, FileOptions, FileStore, Storage},
};
use tokio::runtime::Runtime;

fn main() {
    let args: Vec<_> = env::args().collect();
    // a process of its own, so that its memory is that of the load alone
    if let [_, what, folder, ..] = args.as_slice()
        && what.starts_with("load-")
    {
        return load(what, Path::new(folder));
    }
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    println!("| what | figure | limit |\n|---|---|---|");
    append(&runtime);
    let full = folder.path().join("full");
    let compacted = folder.path().join("compacted");
    let bytes = write(&runtime, &full, 100_000_000, None);
    write(&runtime, &compacted, 100_000_000, Some(1_000_000));
    let idle = measure("load-nothing", &full);
    let best = |what: &str, folder: &Path| {
        let runs: Vec<_> = (0..5).map(|_| measure(what, folder)).collect();
        (runs.iter().map(|run| run.0).min().unwrap(), runs.iter().map(|run| run.1).max().unwrap())
    };
    for (what, name) in [("load-records", "the records"), ("load-pod", "a Pod")] {
        let (time, peak) = best(what, &full);
        println!("| 100 MB into {name} | {time:.0?} | 300 ms |");
        let share = (peak - idle.1) as f64 * 1024.0 / bytes as f64;
        println!("| its peak of memory, by the bytes kept | {share:.2} | 1.3 |");
    }
    let (time, _) = best("load-pod", &compacted);
    println!("| 100 MB, compacted, with a tail of 1 MB, into a Pod | {time:.1?} | 20 ms |");
}

fn entry(seq: u64) -> Entry {
    let text = format!("{seq} {}", "lorem ipsum ".repeat(120));
    let item = match seq % 2 {
        1 => Item::user_message(text),
        _ => Item::assistant_message(text),
    };
    Entry::new(seq, seq.div_ceil(2), EntryBody::Item(item))
}

/// The cost of one append does not depend on how many there were. Both are measured in turn, so that whatever else the machine
/// does meets both alike, and where the disk does not count if there is such a place.
fn append(runtime: &Runtime) {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let open = |name: &str, records: u64| {
        let options = FileOptions::new().durability(Durability::Os);
        let opened = FileStore::open(&folder.path().join(name), options).unwrap();
        for seq in 1..=records {
            opened.store.append(&entry(seq));
            if seq % 1_000 == 0 || seq == records {
                runtime.block_on(opened.store.flush()).unwrap();
            }
        }
        opened.store
    };
    let old = open("old", 99_000);
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for round in 0..10 {
        let young = open(&round.to_string(), 50);
        for step in 1..=100 {
            for (store, before, costs) in [(&young, 50, &mut early), (&old, 99_000 + round * 100, &mut late)] {
                let entry = entry(before + step);
                let from = Instant::now();
                store.append(&entry);
                runtime.block_on(store.flush()).unwrap();
                costs.push(from.elapsed());
            }
        }
    }
    let median = |mut costs: Vec<Duration>| {
        costs.sort_unstable();
        costs[costs.len() / 2]
    };
    let (early, late) = (median(early), median(late));
    println!("| an append, the disk not waited for, near the 100th | {early:.1?} | |");
    println!("| near the 100,000th, by that | {:.3} | 1.05 |", late.as_secs_f64() / early.as_secs_f64());
}

fn write(runtime: &Runtime, folder: &Path, bytes: usize, tail: Option<usize>) -> u64 {
    let opened = FileStore::open(folder, FileOptions::new().durability(Durability::Os)).unwrap();
    let (mut seq, mut written) = (1, 0);
    let mut push = |limit: usize, seq: &mut u64| {
        while written < limit {
            let entry = entry(*seq);
            written += entry.to_json().unwrap().len();
            opened.store.append(&entry);
            *seq += 1;
            if seq.is_multiple_of(100) {
                runtime.block_on(opened.store.flush()).unwrap();
            }
        }
    };
    push(bytes - tail.unwrap_or(0), &mut seq);
    if let Some(tail) = tail {
        let compact = format!(
            r#"{{"record":"compact","seq":{seq},"id":"c","time":1,"turn":{},"compact":{{"base_seq":{},"summary":"s","tail_from":{},"tasks":{{"next_id":1,"applied_through":{},"tasks":[]}},"counters":{{"requests_since_last_task_management":1,"requests_since_last_reminder":null}}}}}}"#,
            seq / 2,
            seq - 1,
            seq - 4,
            seq - 1
        );
        opened.store.append(&Entry::from_json(&compact).unwrap());
        seq += 1;
        push(bytes.max(tail), &mut seq);
    }
    runtime.block_on(opened.store.close()).unwrap();
    fs::metadata(folder.join("history.json")).unwrap().len()
}

fn load(what: &str, folder: &Path) {
    let runtime = Runtime::new().unwrap();
    let from = Instant::now();
    let mut kept = None;
    let mut pod = None;
    match what {
        "load-records" => kept = Some(FileStore::read(folder).unwrap()),
        "load-pod" => {
            let config = OpenAIConfig::new().with_api_key("k");
            let builder = Pod::builder(&Client::with_config(config), "m").session(folder);
            pod = Some(runtime.block_on(builder.build()).unwrap());
        }
        _ => {}
    }
    let time = from.elapsed();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    println!("{} {}", time.as_micros(), peak.trim().trim_end_matches(" kB"));
    drop((kept, pod));
}

/// The time, and the peak of memory in KB.
fn measure(what: &str, folder: &Path) -> (Duration, u64) {
    let output = Command::new(env::current_exe().unwrap()).arg(what).arg(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut numbers = text.split_whitespace().map(|number| number.parse().unwrap());
    (Duration::from_micros(numbers.next().unwrap()), numbers.next().unwrap())
}

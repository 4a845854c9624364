//! What tasks, reminders and streams cost in CPU time.

use std::{hint::black_box, time::Duration};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use insomnia_tasks::{
    Item,
    reminder::{Cadence, Reminders},
    task::{TaskStatus, TaskStore},
    wire::StreamReader,
};
use insomnia_tasks_benches::{CpuTime, talk};

/// So many tasks, finished, and ten active ones.
fn store(finished: usize) -> TaskStore {
    let tasks = TaskStore::new();
    for number in 0..finished {
        let task = tasks.create(format!("Port module {number}"), talk::text(number)).expect("a task");
        tasks.update(task.taskid, TaskStatus::Completed).expect("the task");
    }
    for number in 0..10 {
        tasks.create(format!("Port module {number} to the new interface"), talk::text(number)).expect("a task");
    }
    tasks
}

/// What tasks and reminder add to a request.
fn tasks(c: &mut Criterion<CpuTime>) {
    let mut group = c.benchmark_group("tasks");
    for finished in [0, 10_000] {
        let tasks = store(finished);
        let quiet = Reminders::new(Cadence::new(u32::MAX, 1).expect("a cadence"));
        // with what a request brings: an answer that calls a tool, and the result
        let call = r#"{"id":"1","type":"function","function":{"name":"Write","arguments":"{}"}}"#;
        let call = Item::from_json(&format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#))
            .expect("a call");
        let result = Item::tool_message("1", talk::text(1));
        group.bench_function(BenchmarkId::new("without", finished), |b| {
            b.iter(|| {
                quiet.observe(black_box(&call));
                quiet.observe(black_box(&result));
                black_box(quiet.decide(black_box(&tasks), true))
            })
        });
        // nothing is committed, so a reminder is due each time
        let due = Reminders::new(Cadence::default());
        let answer = Item::assistant_message("Noted.");
        (0..8).for_each(|_| due.observe(&answer));
        group.bench_function(BenchmarkId::new("with", finished), |b| {
            b.iter(|| {
                let decided = due.decide(black_box(&tasks), true);
                assert!(decided.1.is_some());
                decided
            })
        });
    }
    group.finish();
}

/// A call whose arguments come in deltas of seven bytes, as the bytes of an event stream.
fn arguments(bytes: usize) -> Vec<u8> {
    let event = |delta: String| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n");
    let call = |rest: &str| event(format!("{{\"tool_calls\":[{{\"index\":0,{rest}}}]}}"));
    let piece = |text: &str| call(&format!("\"function\":{{\"arguments\":\"{text}\"}}"));
    let mut stream = call(r#""id":"call_1","type":"function","function":{"name":"Write","arguments":""}"#);
    stream += &piece("{\\\"t\\\":\\\"");
    (0..bytes / 7).for_each(|_| stream += &piece("abcdefg"));
    stream += &piece("\\\"}");
    stream += "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    stream.into_bytes()
}

fn streams(c: &mut Criterion<CpuTime>) {
    let mut group = c.benchmark_group("stream");
    for bytes in [125_000, 1_000_000] {
        let stream = arguments(bytes);
        group.bench_function(BenchmarkId::new("arguments", bytes), |b| {
            b.iter(|| {
                let mut reader = StreamReader::new(&["Write"]);
                for packet in stream.chunks(1_400) {
                    black_box(reader.push(packet));
                }
                let answer = reader.finish().expect("an answer");
                assert_eq!(answer.calls.len(), 1);
                answer
            })
        });
    }
    group.finish();
}

criterion_group! {
    name = parts;
    config = Criterion::default()
        .with_measurement(CpuTime)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1_000));
    targets = tasks, streams
}
criterion_main!(parts);

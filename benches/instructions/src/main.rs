//! `instructions NAME` runs one hot path of a request once, in [`measured`]; `run.sh` counts its instructions.

use std::{env, hint::black_box, process::ExitCode};

use insomnia_tasks::{
    Item,
    reminder::{Cadence, Reminders},
    task::{TaskStatus, TaskStore},
    wire::{Dialect, Projection, RequestBody, StreamReader},
};

fn main() -> ExitCode {
    let name = env::args().nth(1).unwrap_or_default();
    match name.as_str() {
        "body-1000" => body(1_000),
        "body-10000" => body(10_000),
        "items-1000" => items(),
        "tasks-quiet" => tasks(false),
        "tasks-reminder" => tasks(true),
        "stream-10000" => stream(10_000),
        "stream-80000" => stream(80_000),
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

/// What is counted.
#[inline(never)]
fn measured(run: &mut dyn FnMut()) {
    run();
}

fn talk(count: usize) -> Vec<Item> {
    let text = "the parser reads one line after the other, ".repeat(10);
    (0..count)
        .map(|number| if number % 2 == 0 { Item::user_message(&*text) } else { Item::assistant_message(&*text) })
        .collect()
}

/// From kept messages to the bytes of a request.
fn body(count: usize) {
    let mut projection = Projection::new(Dialect::default(), None);
    projection.extend(&talk(count));
    measured(&mut || {
        let messages = projection.messages();
        black_box(RequestBody { model: "m", messages: &messages, ..RequestBody::default() }.to_bytes());
    });
}

/// Taking committed items in, so that requests can carry them.
fn items() {
    let items = talk(1_000);
    let mut projection = Projection::new(Dialect::default(), None);
    measured(&mut || projection.extend(&items));
}

/// The decision before a request, with 10,000 finished and 10 active tasks.
fn tasks(due: bool) {
    let tasks = TaskStore::new();
    for number in 0..10_010 {
        let task = tasks.create(format!("Port module {number} to the new interface"), "").expect("a task");
        if number < 10_000 {
            tasks.update(task.taskid, TaskStatus::Completed).expect("the task");
        }
    }
    let reminders = Reminders::new(Cadence::default());
    let answers = if due { 8 } else { 1 };
    (0..answers).for_each(|_| reminders.observe(&Item::assistant_message("Noted.")));
    let mut decided = None;
    measured(&mut || decided = Some(reminders.decide(&tasks, true)));
    assert_eq!(decided.is_some_and(|(_, item)| item.is_some()), due);
}

/// A call whose arguments come in deltas of seven bytes.
fn stream(bytes: usize) {
    let piece = |text: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\"function\":{{\"arguments\":\"{text}\"}}}}]}}}}]}}\n\n"
        )
    };
    let mut stream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"Write\",\"arguments\":\"\"}}]}}]}\n\n".to_owned();
    stream += &piece("{\\\"t\\\":\\\"");
    (0..bytes / 7).for_each(|_| stream += &piece("abcdefg"));
    stream += &piece("\\\"}");
    stream += "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    measured(&mut || {
        let mut reader = StreamReader::new(&["Write"]);
        stream.as_bytes().chunks(1_400).for_each(|packet| drop(black_box(reader.push(packet))));
        assert_eq!(reader.finish().expect("an answer").calls.len(), 1);
    });
}

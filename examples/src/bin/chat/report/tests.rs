use insomnia_tasks::{
    Item,
    session::{Entry, EntryBody, FileStore, Header, StoredSession},
    task::TaskStatus::{Completed, InProgress, Pending},
};
use serde_json::{Value, json, value::to_raw_value};

use super::{
    entries::{Kind, Shown},
    model::Report,
    page, read,
    text::{Room, number, one_line, visible},
};

/// Records in the order in which they are pushed.
#[derive(Default)]
struct Records(Vec<Entry>);

impl Records {
    fn push(&mut self, turn: u64, body: EntryBody) -> u64 {
        let seq = self.0.len() as u64 + 1;
        self.0.push(Entry::new(seq, turn, body));
        seq
    }

    fn item(&mut self, turn: u64, item: Item) -> u64 {
        self.push(turn, EntryBody::Item(item))
    }

    /// An answer that calls this, and the call's result.
    fn call(&mut self, turn: u64, name: &str, arguments: &Value, result: &str) -> u64 {
        let seq = self.asks(turn, name, arguments);
        self.item(turn, Item::tool_message("a", result));
        seq
    }

    fn asks(&mut self, turn: u64, name: &str, arguments: &Value) -> u64 {
        let call =
            json!({"id": "a", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
        self.item(
            turn,
            Item::from_message(&json!({"role": "assistant", "content": null, "tool_calls": [call]})).unwrap(),
        )
    }

    fn task(&mut self, turn: u64, taskid: u64, status: &str) -> u64 {
        let name = if status == "pending" { "TaskCreate" } else { "TaskUpdate" };
        let result = json!({"taskid": taskid, "status": status, "subject": format!("task {taskid}")});
        self.call(turn, name, &json!({}), &result.to_string())
    }

    /// What comes of them once they are on disk.
    fn stored(&self) -> StoredSession {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("session");
        FileStore::create(&session, &Header::new(Some("be brief".to_owned())), &self.0).unwrap();
        FileStore::read(&session).unwrap()
    }

    fn report(&self) -> Report {
        read::report(&self.stored())
    }
}

fn remarks(report: &Report) -> Vec<&str> {
    let remark = |entry: &&Shown| matches!(entry.kind, Kind::Remark | Kind::Trouble);
    report.entries.iter().filter(remark).map(|entry| entry.text.as_str()).collect()
}

#[test]
fn lanes_reminders_and_figures() {
    let mut records = Records::default();
    records.item(1, Item::user_message("go"));
    let made = records.task(1, 1, "pending"); // request 1
    records.call(1, "TaskList", &json!({}), "{}"); // 2
    records.item(1, Item::task_reminder("open: 1"));
    records.call(1, "ReadFile", &json!({}), "error: no such file"); // 3
    records.item(1, Item::task_reminder("open: 1"));
    records.task(1, 1, "inprogress"); // 4
    records.task(1, 1, "completed"); // 5
    records.item(1, Item::task_reminder("open: 1"));
    records.item(1, Item::assistant_message("done")); // 6
    let report = records.report();

    assert_eq!(report.requests.len(), 6);
    let lane = &report.lanes[0];
    assert_eq!((lane.taskid, lane.subject.as_str(), lane.seq), (1, "task 1", made));
    let spans: Vec<_> = lane.spans.iter().map(|span| (span.status, span.from, span.to)).collect();
    assert_eq!(spans, [(Pending, 1, 4), (InProgress, 4, 5), (Completed, 5, 6)]);
    let reminders: Vec<_> = report.reminders.iter().map(|reminder| (reminder.request, reminder.answered)).collect();
    assert_eq!(reminders, [(3, Some(4)), (4, Some(4)), (6, None)]);
    let figures = &report.figures;
    assert_eq!((figures.tasks, figures.done, figures.deleted), (1, 1, 0));
    // two requests and one
    assert_eq!((figures.answered, figures.reminders, figures.median_doubled), (2, 3, Some(3)));
    // requests 2 and 3; none was open at 1 and at 6
    assert_eq!((figures.idle, figures.requests), (2, 6));
    assert!(figures.cost.reminders == 3 && figures.prompt_tokens.is_none());
    assert!(report.entries.iter().any(Shown::is_error) && remarks(&report).is_empty());
}

#[test]
fn what_a_rewind_left_behind_is_shown_and_does_not_count() {
    let mut records = Records::default();
    records.item(1, Item::user_message("go"));
    records.task(1, 1, "pending");
    let kept = records.item(1, Item::assistant_message("made"));
    records.item(2, Item::user_message("again"));
    records.item(2, Item::task_reminder("open: 1"));
    records.task(2, 1, "completed");
    records.push(1, EntryBody::Rewind { to_seq: kept });
    records.item(2, Item::user_message("otherwise"));
    records.item(2, Item::assistant_message("well"));
    let report = records.report();
    assert_eq!((report.requests.len(), report.reminders.len(), report.lanes[0].status()), (3, 0, Pending));
    assert_eq!(report.entries.iter().filter(|entry| entry.void).count(), 3);
    assert_eq!(remarks(&report), [format!("Rewound to record {kept}: what stands between does not count")]);
}

#[test]
fn turns_without_an_answer_and_calls_without_a_result() {
    let mut records = Records::default();
    records.item(1, Item::user_message("go"));
    records.asks(1, "ReadFile", &json!({}));
    records.item(2, Item::user_message("go on"));
    let report = records.report();
    let told = remarks(&report);
    assert!(told[0].starts_with("Turn 1 ended without an answer") && told[1].starts_with("Turn 2 has no answer yet"));
    assert!(report.entries.iter().any(|entry| entry.calls.first().is_some_and(|call| call.failed())));
}

#[test]
fn what_the_host_did_is_told() {
    let mut records = Records::default();
    let task = json!({"taskid": 7, "status": "pending", "subject": "by hand", "description": ""});
    records.push(0, EntryBody::TaskEdit(to_raw_value(&task).unwrap()));
    records.push(0, EntryBody::Compact(to_raw_value(&json!({"summary": "short"})).unwrap()));
    records.push(0, EntryBody::Instructions("be long".to_owned()));
    let report = records.report();
    assert_eq!(
        (report.lanes[0].taskid, report.compactions.len(), report.instructions.as_deref()),
        (7, 1, Some("be brief"))
    );
    assert!(remarks(&report)[0].contains("by hand"));
    assert!(page::render(&report).contains("Compaction after request 0"));
}

#[test]
fn nothing_of_a_text_stays_hidden() {
    assert_eq!(visible("a\u{202e}b\u{1b}\0\u{85}\u{fffe}\n\tc"), "a[U+202E]b␛␀[U+0085][U+FFFE]\n\tc");
    assert_eq!(visible("کلمة ‌👩‍👧"), "کلمة ‌👩‍👧");
    assert_eq!(one_line(" a\n b  c ", 10), "a b c");
    assert_eq!(one_line("abcdef", 3), "abc…");
    assert_eq!([number(7_u64), number(1_234_u64), number(1_000_000_u64)], ["7", "1,234", "1,000,000"]);
}

#[test]
fn a_long_text_is_folded_and_an_endless_one_is_cut() {
    let mut room = Room::of(2_600_000, 1);
    assert!(!room.text(&"x".repeat(2_000)).into_string().contains("<details>"));
    let folded = room.text(&"x".repeat(3_000)).into_string();
    assert!(folded.contains("<details>") && folded.contains(&"x".repeat(3_000)) && !folded.contains("bytes more"));
    let cut = room.text(&"<".repeat(3_000_000)).into_string();
    assert!(cut.len() < 1_700_000 && cut.contains("bytes more"), "{}", cut.len());
}

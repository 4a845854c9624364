use std::collections::HashSet;

use insomnia_tasks::{
    Cost, Item, ItemKind,
    session::{Compact, Entry, EntryBody, StoredSession},
    task::{Task, TaskId, TaskStatus, tools::changes_tasks},
};
use serde::Deserialize;

use super::{
    entries::{Call, Kind, Shown},
    figures::Figures,
    lanes::Lanes,
    model::{Reminder, Report, Request},
};

/// A session as it is shown; a pure function of its records.
pub(super) fn report(stored: &StoredSession) -> Report {
    let live = stored.live();
    let items = live.iter().filter_map(|entry| match &entry.body {
        EntryBody::Item(item) => Some(item),
        _ => None,
    });
    let cost = Cost::of(items);
    let live: HashSet<u64> = live.iter().map(|entry| entry.seq).collect();
    let mut reader = Reader::new(stored);
    for entry in &stored.entries {
        reader.take(entry, live.contains(&entry.seq));
    }
    reader.finish(cost)
}

struct Reader {
    report: Report,
    lanes: Lanes,
    /// Where the answer stands whose calls are being answered.
    round: Option<usize>,
    /// The turn that has no last answer yet.
    unanswered: Option<u64>,
    /// The turn that began last.
    turn: Option<u64>,
}

/// What the result of a task tool says of the task.
#[derive(Deserialize)]
struct Done {
    taskid: TaskId,
    status: TaskStatus,
    subject: Option<String>,
}

impl Reader {
    fn new(stored: &StoredSession) -> Self {
        let header = &stored.header;
        let updated = stored.entries.iter().map(|entry| entry.time).fold(header.created, u64::max);
        let report = Report {
            id: header.session.clone(),
            time: [header.created, updated],
            instructions: header.instructions.clone(),
            entries: Vec::with_capacity(stored.entries.len()),
            requests: Vec::new(),
            turns: Vec::new(),
            lanes: Vec::new(),
            reminders: Vec::new(),
            compactions: Vec::new(),
            figures: Figures::default(),
            damage: stored.damage.iter().map(ToString::to_string).collect(),
        };
        Self { report, lanes: Lanes::default(), round: None, unanswered: None, turn: None }
    }

    fn take(&mut self, entry: &Entry, live: bool) {
        let requests = self.report.requests.len();
        let remark = |text: &str| Shown::remark(entry.seq, entry.turn, Kind::Remark, text);
        let shown = match &entry.body {
            EntryBody::Item(item) => return self.take_item(entry, item, live),
            EntryBody::TaskEdit(task) => match serde_json::from_str::<Task>(task.get()) {
                Ok(task) => {
                    if live {
                        self.lanes.set(task.taskid.get(), Some(&task.subject), task.status, requests, entry.seq);
                    }
                    remark(&format!("Task {} was set to {} by hand: {}", task.taskid, task.status, task.subject))
                }
                Err(_) => remark("A task was changed by hand"),
            },
            EntryBody::Instructions(text) => remark(&format!("New instructions: {text}")),
            EntryBody::Dialect(dialect) => remark(&format!("The server wants another form: {dialect}")),
            EntryBody::Compact(compact) => {
                if live {
                    self.report.compactions.push((entry.seq, requests));
                }
                let summary = serde_json::from_str::<Compact>(compact.get()).map(|compact| compact.summary);
                remark(&format!(
                    "What stands above is sent as a summary from here on:\n{}",
                    summary.unwrap_or_default()
                ))
            }
            EntryBody::Rewind { to_seq } => {
                (self.round, self.unanswered) = (None, None);
                remark(&format!("Rewound to record {to_seq}: what stands between does not count"))
            }
            EntryBody::Unknown(_) => remark("A record that this version does not know"),
            _ => remark("A record that cannot be shown"),
        };
        let void = !live && !matches!(entry.body, EntryBody::Rewind { .. });
        self.report.entries.push(Shown { void, usage: entry.usage.as_deref().copied(), ..shown });
    }

    fn take_item(&mut self, entry: &Entry, item: &Item, live: bool) {
        let kind = match item.kind() {
            ItemKind::User => Kind::User,
            ItemKind::Assistant => Kind::Assistant,
            ItemKind::Tool if self.take_result(item, live) => return,
            ItemKind::Tool => Kind::Tool,
            ItemKind::TaskReminder => Kind::Reminder,
            ItemKind::Notification => Kind::Notification,
            _ => Kind::System,
        };
        if live && kind == Kind::User {
            self.close_turn("ended without an answer: it failed, was cancelled or reached a limit");
            if self.turn != Some(entry.turn) {
                self.report.turns.push(self.report.requests.len());
            }
            (self.unanswered, self.turn) = (Some(entry.turn), Some(entry.turn));
        }
        if matches!(kind, Kind::User | Kind::Assistant) {
            self.round = (kind == Kind::Assistant).then_some(self.report.entries.len());
        }
        let text = item.text().unwrap_or_default();
        let calls: Vec<Call> = item.tool_calls().into_iter().map(Call::from).collect();
        let (void, usage) = (!live, entry.usage.as_deref().copied());
        let mut shown = Shown { void, calls, usage, ..Shown::remark(entry.seq, entry.turn, kind, text) };
        if live {
            self.count(&mut shown);
        }
        self.report.entries.push(shown);
    }

    fn count(&mut self, shown: &mut Shown) {
        let number = self.report.requests.len() + 1;
        if shown.kind == Kind::Reminder {
            self.report.reminders.push(Reminder { seq: shown.seq, request: number, answered: None });
        }
        if shown.kind != Kind::Assistant {
            return;
        }
        shown.request = Some(number);
        let (updates, open) = (shown.updates_tasks(), self.lanes.open());
        self.report.requests.push(Request { seq: shown.seq, usage: shown.usage, updates, open });
        if updates {
            let waiting = self.report.reminders.iter_mut().rev().take_while(|reminder| reminder.answered.is_none());
            waiting.for_each(|reminder| reminder.answered = Some(number));
        }
        self.unanswered = (!shown.calls.is_empty()).then_some(shown.turn);
    }

    /// Puts a result to its call; false if there is none.
    fn take_result(&mut self, item: &Item, live: bool) -> bool {
        let id = item.tool_call_id().unwrap_or_default();
        let Some(answer) = self.round.and_then(|at| self.report.entries.get_mut(at)) else { return false };
        let mut open = answer.calls.iter_mut().filter(|call| call.result.is_none());
        // a server that gives no ids gets others back
        let Some(call) = open.find(|call| call.id == id || call.id.is_empty()) else { return false };
        let text = item.text().unwrap_or_default();
        if live && changes_tasks(&call.name) {
            // an error has none of this
            if let Ok(done) = serde_json::from_str::<Done>(&text) {
                let (taskid, requests) = (done.taskid.get(), self.report.requests.len());
                self.lanes.set(taskid, done.subject.as_deref(), done.status, requests, answer.seq);
            }
        }
        call.result = Some(text);
        true
    }

    fn close_turn(&mut self, how: &str) {
        if let Some(turn) = self.unanswered.take() {
            let text = format!("Turn {turn} {how}");
            self.report.entries.push(Shown::remark(0, turn, Kind::Trouble, text));
        }
    }

    fn finish(mut self, cost: Cost) -> Report {
        self.close_turn("has no answer yet: it runs, or was interrupted");
        let mut report = self.report;
        report.lanes = self.lanes.finish(report.requests.len());
        report.figures = Figures::new(&report, cost);
        report
    }
}

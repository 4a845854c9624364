//! Generated histories: what the records fold to, against a plain model that was never interrupted.

use std::{collections::BTreeMap, sync::Arc};

use proptest::prelude::*;
use serde_json::json;

use super::{Entry, EntryBody, Header, Ledger, NoStorage, Session, branch::Branch};
use crate::{
    Item,
    reminder::{Cadence, ReminderState, Reminders},
    task::{
        Author, TaskId, TaskStatus, TaskStore,
        tools::{TaskToolbox, is_task_tool},
    },
    worker::Journal,
};

#[derive(Clone, Debug)]
enum Op {
    /// Answers with their calls, then one without.
    Turn(Vec<Vec<Call>>),
    Edit(Edit),
    Remind,
    /// Keeps so many turns.
    Compact(usize),
    /// Goes back so many turns.
    Rewind(u64),
    Reopen,
}

#[derive(Clone, Debug)]
enum Call {
    Create,
    Update(u64, TaskStatus),
    List,
    Foreign,
    /// Not carried out: the turn was cancelled.
    Lost,
    /// Carried out, and the host changes something before the result is recorded.
    Raced(Edit),
}

#[derive(Clone, Debug)]
enum Edit {
    Create,
    Update(u64, TaskStatus),
}

#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    tasks: BTreeMap<u64, (TaskStatus, String)>,
    counters: ReminderState,
    items: Vec<String>,
}

/// What a session that is never closed, compacted or folded would know.
#[derive(Default)]
struct Model {
    now: State,
    last_id: u64,
    /// After the last message of each turn; the first is the beginning.
    turns: Vec<State>,
}

impl Model {
    fn create(&mut self, subject: &str) {
        self.last_id += 1;
        self.now.tasks.insert(self.last_id, (TaskStatus::Pending, subject.to_owned()));
    }

    fn update(&mut self, id: u64, status: TaskStatus) {
        if let Some(task) = self.now.tasks.get_mut(&id) {
            task.0 = status;
        }
    }

    fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::Create => self.create("of the host"),
            Edit::Update(id, status) => self.update(*id, *status),
        }
    }
}

/// The session under test.
struct Live {
    header: Header,
    ledger: Arc<Ledger>,
    tasks: TaskStore,
    reminders: Reminders,
    turn: u64,
    /// The index of the first item of each turn, and which part is summarised.
    starts: Vec<usize>,
    items: usize,
    summarised: usize,
}

impl Live {
    fn open(header: Header, entries: Vec<Entry>) -> Self {
        let session = Session::fold(&header, &entries);
        let reminders = Reminders::new(Cadence::default());
        reminders.restore(session.counters);
        let next_seq = entries.last().map_or(1, |entry| entry.seq + 1);
        let ledger = Arc::new(Ledger::new(Box::new(NoStorage), entries, next_seq, &session, reminders.clone()));
        let tasks = session.tasks.clone();
        let recorder = Arc::downgrade(&ledger);
        tasks.record_with(move |author, task| recorder.upgrade().unwrap().task_changed(author, task));
        let mut live = Self { header, ledger, tasks, reminders, turn: 0, starts: Vec::new(), items: 0, summarised: 0 };
        live.look_at(&session);
        live
    }

    fn look_at(&mut self, session: &Session) {
        self.turn = session.turn;
        self.items = session.items.len();
        self.summarised = session.summarised.as_ref().map_or(0, |summarised| summarised.tail);
        let begins = |index: &usize| *index == 0 || session.turns[*index] != session.turns[*index - 1];
        self.starts = (0..self.items).filter(begins).collect();
    }

    fn entries(&self) -> Vec<Entry> {
        let (_, entries) = self.ledger.forked();
        // as they would be read back
        entries.iter().map(|entry| Entry::from_json(&entry.to_json().unwrap()).unwrap()).collect()
    }

    fn commit(&mut self, item: Item, model: &mut Model) {
        self.ledger.commit(&item, self.turn);
        self.reminders.observe(&item);
        self.items += 1;
        model.now.items.push(item.json().to_owned());
    }

    fn edit(&self, edit: &Edit) {
        match edit {
            Edit::Create => drop(self.tasks.create("of the host", "")),
            Edit::Update(id, status) => drop(self.tasks.update(TaskId::new(*id).unwrap(), *status)),
        }
    }

    fn run(&mut self, answers: &[Vec<Call>], model: &mut Model) {
        self.turn += 1;
        self.starts.push(self.items);
        self.commit(Item::user_message("go on"), model);
        for calls in answers {
            self.answer(calls, model);
        }
        self.answer(&[], model);
        model.turns.push(model.now.clone());
    }

    fn answer(&mut self, calls: &[Call], model: &mut Model) {
        let asked: Vec<_> = calls
            .iter()
            .enumerate()
            .map(|(at, call)| {
                let (name, arguments) = match call {
                    Call::Create | Call::Lost | Call::Raced(_) => {
                        ("TaskCreate", json!({"subject": "of the model", "description": ""}))
                    }
                    Call::Update(id, status) => ("TaskUpdate", json!({"taskid": id, "status": status})),
                    Call::List => ("TaskList", json!({})),
                    Call::Foreign => ("weather", json!({})),
                };
                let function = json!({"name": name, "arguments": arguments.to_string()});
                // some servers give the same ids in every answer
                json!({"id": format!("call_{at}"), "type": "function", "function": function})
            })
            .collect();
        let message = match asked.is_empty() {
            true => json!({"role": "assistant", "content": "done"}),
            false => json!({"role": "assistant", "content": null, "tool_calls": asked}),
        };
        let item = Item::from_message(&message).unwrap();
        self.commit(item.clone(), model);
        let counters = &mut model.now.counters;
        counters.requests_since_last_task_management += 1;
        counters.requests_since_last_reminder = counters.requests_since_last_reminder.map(|requests| requests + 1);
        if calls.iter().any(|call| !matches!(call, Call::List | Call::Foreign)) {
            counters.requests_since_last_task_management = 0;
        }
        for (call, asked) in calls.iter().zip(item.tool_calls()) {
            if matches!(call, Call::Lost) {
                continue;
            }
            let result = match is_task_tool(&asked.name) {
                true => TaskToolbox::decode_call(&asked)
                    .map_err(|error| error.to_string())
                    .and_then(|task| task.apply_as(Author::Model, &self.tasks).map_err(|error| error.to_string()))
                    .unwrap_or_else(|error| format!("error: {error}")),
                // looks like a task's, and is none
                false => json!({"taskid": 77}).to_string(),
            };
            match call {
                Call::Create => model.create("of the model"),
                Call::Update(id, status) => model.update(*id, *status),
                Call::Raced(edit) => {
                    model.create("of the model");
                    self.edit(edit);
                    model.edit(edit);
                }
                _ => {}
            }
            self.commit(Item::tool_message(&asked.id, result), model);
        }
    }

    fn compact(&mut self, keep: usize) {
        let tail = self.starts.len().checked_sub(keep).and_then(|at| self.starts.get(at).copied());
        let tail = tail.unwrap_or(self.items);
        if tail > self.summarised {
            self.ledger.compact("what was said", tail);
            self.summarised = tail;
        }
    }

    fn rewind(&mut self, back: u64, model: &mut Model) {
        let turn = self.turn.saturating_sub(back);
        let session = self.ledger.rewind(turn).unwrap();
        self.reminders.restore(session.counters);
        self.look_at(&session);
        assert_eq!(self.turn, turn);
        model.turns.truncate(turn as usize);
        model.now = model.turns.last().cloned().unwrap_or_default();
    }
}

fn state_of(session: &Session) -> State {
    let tasks = session.tasks.list().into_iter().map(|task| (task.taskid.get(), (task.status, task.subject)));
    let items = session.items.iter().map(|item| item.json().to_owned());
    State { tasks: tasks.collect(), counters: session.counters, items: items.collect() }
}

fn check(ops: &[Op], pick: usize) {
    let mut model = Model::default();
    let mut live = Live::open(Header::new(None), Vec::new());
    for op in ops {
        let before = live.tasks.snapshot().next_id;
        match op {
            Op::Turn(answers) => live.run(answers, &mut model),
            Op::Edit(edit) => {
                live.edit(edit);
                model.edit(edit);
            }
            Op::Remind if live.turn > 0 => {
                live.commit(Item::task_reminder("open"), &mut model);
                model.now.counters.requests_since_last_reminder = Some(0);
                *model.turns.last_mut().unwrap() = model.now.clone();
            }
            Op::Remind => {}
            Op::Compact(keep) => live.compact(*keep),
            Op::Rewind(back) => live.rewind(*back, &mut model),
            Op::Reopen => live = Live::open(live.header.clone(), live.entries()),
        }
        assert!(live.tasks.snapshot().next_id >= before, "ids fell");
        assert_eq!(live.tasks.snapshot().next_id.get(), model.last_id + 1);
        assert_eq!(live.reminders.state(), model.now.counters);
    }
    let entries = live.entries();
    let folded = Session::fold(&live.header, &entries);
    assert_eq!(state_of(&folded), model.now);
    assert_eq!(folded.tasks.snapshot(), live.tasks.snapshot());
    assert!(entries.iter().zip(1..).all(|(entry, seq)| entry.seq == seq), "numbers are contiguous");

    // a full fold is the fold of the compacted
    let full: Vec<_> = entries.iter().filter(|entry| !matches!(entry.body, EntryBody::Compact(_))).cloned().collect();
    let full = Session::fold(&live.header, &full);
    assert_eq!(state_of(&full), model.now);
    assert_eq!(full.tasks.snapshot(), folded.tasks.snapshot());

    // what comes twice counts once
    let twice: Vec<_> = entries.iter().flat_map(|entry| [entry.clone(), entry.clone()]).collect();
    assert_eq!(state_of(&Session::fold(&live.header, &twice)), model.now);

    // back to a record is the fold of the live ones up to it
    let to_seq = (pick % (entries.len() + 1)) as u64;
    let first: Vec<_> = Branch::new(&entries).live.into_iter().filter(|entry| entry.seq <= to_seq).cloned().collect();
    let mut rewound = entries.clone();
    rewound.push(Entry::new(entries.len() as u64 + 1, 1, EntryBody::Rewind { to_seq }));
    let rewound = Session::fold(&live.header, &rewound);
    assert_eq!(state_of(&rewound), state_of(&Session::fold(&live.header, &first)));
    assert_eq!(rewound.tasks.snapshot().next_id, folded.tasks.snapshot().next_id);
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let status = || {
        prop::sample::select(vec![
            TaskStatus::Pending,
            TaskStatus::InProgress,
            TaskStatus::Completed,
            TaskStatus::Deleted,
        ])
    };
    let edit = move || prop_oneof![Just(Edit::Create), (1..6_u64, status()).prop_map(|(id, to)| Edit::Update(id, to))];
    let call = prop_oneof![
        3 => Just(Call::Create),
        3 => (1..6_u64, status()).prop_map(|(id, to)| Call::Update(id, to)),
        1 => Just(Call::List),
        1 => Just(Call::Foreign),
        1 => Just(Call::Lost),
        1 => edit().prop_map(Call::Raced),
    ];
    let turn = prop::collection::vec(prop::collection::vec(call, 0..3), 0..3).prop_map(Op::Turn);
    let op = prop_oneof![
        4 => turn,
        2 => edit().prop_map(Op::Edit),
        1 => Just(Op::Remind),
        2 => (0..4_usize).prop_map(Op::Compact),
        1 => (0..4_u64).prop_map(Op::Rewind),
        1 => Just(Op::Reopen),
    ];
    prop::collection::vec(op, 0..14)
}

/// How many histories: `INSOMNIA_HISTORIES`, or few enough for every build.
fn histories() -> ProptestConfig {
    let cases = std::env::var("INSOMNIA_HISTORIES").ok().and_then(|count| count.parse().ok()).unwrap_or(3_000);
    ProptestConfig { cases, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(histories())]

    #[test]
    fn generated_histories_fold_to_what_a_plain_model_says(ops in ops(), pick in any::<usize>()) {
        check(&ops, pick);
    }
}

#[test]
fn a_compaction_within_a_rewound_span_is_void() {
    let create = Op::Turn(vec![vec![Call::Create]]);
    check(&[create.clone(), create.clone(), Op::Compact(0), Op::Rewind(1), create, Op::Reopen], 3);
}

#[test]
fn what_the_host_changed_after_the_last_result_is_kept_by_a_compaction() {
    let update = Op::Turn(vec![vec![Call::Create, Call::Update(1, TaskStatus::InProgress)]]);
    check(&[update, Op::Edit(Edit::Update(1, TaskStatus::Completed)), Op::Compact(1), Op::Reopen], 0);
}

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::value::to_raw_value;

use super::{Entry, EntryBody, Storage};
use crate::{
    Item, ItemKind,
    item::Rounds,
    task::{Author, Task, TaskId, tools::changes_tasks},
    worker::{Journal, JournalError, LearnedDialect},
};

/// Numbers the records of one session and hands them to its storage, in an order whose fold gives the tasks as they are.
///
/// A task tool's change is made before its result is recorded. What the host changes in between waits until that result is
/// recorded, so that the record has both in the order in which they happened.
pub(crate) struct Ledger {
    storage: Box<dyn Storage>,
    // a std mutex: held while a record is queued, never across an await
    state: Mutex<State>,
}

struct State {
    next_seq: u64,
    turn: u64,
    waiting: VecDeque<Waiting>,
    /// Which call a result belongs to.
    rounds: Rounds,
}

enum Waiting {
    /// The model's change of this task, whose result is not recorded yet.
    Result(TaskId),
    /// A change of the host that came after it.
    Edit(Task),
}

impl Ledger {
    /// A ledger that goes on behind a session with these items.
    pub(crate) fn new(storage: impl Storage + 'static, next_seq: u64, turn: u64, items: &[Item]) -> Self {
        let mut state = State { next_seq, turn, waiting: VecDeque::new(), rounds: Rounds::default() };
        items.iter().for_each(|item| drop(state.rounds.push(item)));
        Self { storage: Box::new(storage), state: Mutex::new(state) }
    }

    /// Records something that is no item.
    pub(crate) fn record(&self, body: EntryBody) {
        self.append(&mut self.lock(), body);
    }

    /// Takes note of a changed task; called under the store's lock, so in the order of the changes.
    pub(crate) fn task_changed(&self, author: Author, task: &Task) {
        let mut state = self.lock();
        match author {
            Author::Model => state.waiting.push_back(Waiting::Result(task.taskid)),
            Author::Host if state.waiting.is_empty() => self.record_edit(&mut state, task),
            Author::Host => state.waiting.push_back(Waiting::Edit(task.clone())),
        }
    }

    fn settle(&self, state: &mut State, item: &Item) {
        let answered = state.rounds.push(item);
        if item.kind() == ItemKind::Tool {
            let Some(Waiting::Result(waited)) = state.waiting.front() else { return };
            // other results may name a task too
            if !answered.is_some_and(|call| changes_tasks(&call.name)) {
                return;
            }
            let done = item.text().and_then(|text| serde_json::from_str::<Done>(&text).ok());
            if done.is_none_or(|done| done.taskid != *waited) {
                return;
            }
            state.waiting.pop_front();
        } else {
            // the round is over, and with it every result
            state.waiting.retain(|waiting| matches!(waiting, Waiting::Edit(_)));
        }
        while let Some(Waiting::Edit(_)) = state.waiting.front() {
            if let Some(Waiting::Edit(task)) = state.waiting.pop_front() {
                self.record_edit(state, &task);
            }
        }
    }

    fn record_edit(&self, state: &mut State, task: &Task) {
        if let Ok(task) = to_raw_value(task) {
            self.append(state, EntryBody::TaskEdit(task));
        }
    }

    fn append(&self, state: &mut State, body: EntryBody) {
        self.storage.append(&Entry::new(state.next_seq, state.turn, body));
        state.next_seq += 1;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Deserialize)]
struct Done {
    taskid: TaskId,
}

#[async_trait]
impl Journal for Ledger {
    fn commit(&self, item: &Item, turn: u64) {
        let mut state = self.lock();
        state.turn = turn;
        if item.kind() != ItemKind::Tool {
            self.settle(&mut state, item);
        }
        self.append(&mut state, EntryBody::Item(item.clone()));
        if item.kind() == ItemKind::Tool {
            self.settle(&mut state, item);
        }
    }

    fn dialect(&self, learned: &LearnedDialect) {
        if let Ok(learned) = to_raw_value(learned) {
            self.record(EntryBody::Dialect(learned));
        }
    }

    async fn flush(&self) -> Result<(), JournalError> {
        self.storage.flush().await.map_err(Into::into)
    }
}

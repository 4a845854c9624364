use std::{
    collections::VecDeque,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use futures_util::future::{Either, select};
use serde::Deserialize;
use serde_json::value::to_raw_value;

use super::{
    Compact, CompactTasks, Entry, EntryBody, Header, OpenError, Session, Storage, StorageError, branch::Branch,
};
use crate::{
    Item, ItemKind,
    item::Rounds,
    reminder::Reminders,
    task::{Author, Task, TaskId, TaskSnapshot, TaskStore, tools::changes_tasks},
    wire::Usage,
    worker::{Journal, JournalError, LearnedDialect},
};

/// Numbers the records of one session and hands them to its storage, in an order whose fold gives the tasks as they are.
///
/// A task tool's change is made before its result is recorded. What the host changes in between waits until that result is
/// recorded, so that the record has both in the order in which they happened.
///
/// It keeps all records, whose messages it shares with the history, so that a rewind or a fork needs nothing of the storage.
pub(crate) struct Ledger {
    storage: Box<dyn Storage>,
    header: Header,
    tasks: TaskStore,
    reminders: Reminders,
    /// Reads all records of the session, where not all were read at first.
    reader: Option<Reader>,
    // a std mutex: held while a record is queued or the records are folded, never across an await; the task store's comes
    // before it
    state: Mutex<State>,
}

type Reader = Box<dyn Fn() -> Result<Vec<Entry>, EarlierError> + Send + Sync>;

/// Why the older records of a session could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EarlierError {
    #[error(transparent)]
    Folder(#[from] OpenError),
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Postgres(#[from] super::postgres::PostgresError),
}

struct State {
    entries: Vec<Entry>,
    /// How many items among them the loop does not know.
    hidden: usize,
    next_seq: u64,
    turn: u64,
    waiting: VecDeque<Waiting>,
    /// Which call a result belongs to.
    rounds: Rounds,
    /// Items whose entries get these ids.
    named: Vec<(Item, String)>,
}

enum Waiting {
    /// The model's change of this task, whose result is not recorded yet.
    Result(TaskId),
    /// A change of the host that came after it.
    Edit(Task),
}

impl Ledger {
    /// A ledger that goes on behind these records, whose fold `session` is.
    pub(crate) fn new(
        storage: Box<dyn Storage>,
        entries: Vec<Entry>,
        next_seq: u64,
        session: &Session,
        reminders: Reminders,
    ) -> Self {
        let (waiting, rounds, named) = (VecDeque::new(), Rounds::of(&session.items), Vec::new());
        let state = State { entries, hidden: 0, next_seq, turn: session.turn, waiting, rounds, named };
        let (header, tasks) = (session.header.clone(), session.tasks.clone());
        Self { storage, header, tasks, reminders, reader: None, state: Mutex::new(state) }
    }

    /// The same, where the records are only the last ones; the reader reads all of them.
    pub(crate) fn with_reader(
        mut self,
        reader: impl Fn() -> Result<Vec<Entry>, EarlierError> + Send + Sync + 'static,
    ) -> Self {
        self.reader = Some(Box::new(reader));
        self
    }

    /// Reads the records before those that were read at first, if that was not done yet; blocks meanwhile. Returns the
    /// messages among them that count.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn read_earlier(&self) -> Result<Vec<Item>, EarlierError> {
        let first = |state: &State| state.entries.first().map_or(1, |entry| entry.seq);
        let before = first(&self.lock());
        if let Some(reader) = self.reader.as_ref().filter(|_| before > 1) {
            let mut earlier = reader()?;
            earlier.retain(|entry| entry.seq < before);
            let items = items_of(&earlier);
            let mut state = self.lock();
            // another may have been faster
            if first(&state) == before {
                state.hidden = items.len();
                earlier.append(&mut state.entries);
                state.entries = earlier;
            }
        }
        let state = self.lock();
        let mut items = items_of(&state.entries);
        items.truncate(state.hidden);
        Ok(items)
    }

    /// Does this, and renews the ownership of the session meanwhile where it needs that.
    pub(crate) async fn renewing<T>(&self, work: impl Future<Output = T>) -> T {
        let Some(every) = self.storage.renew_every() else { return work.await };
        let renew = async {
            loop {
                tokio::time::sleep(every).await;
                if let Err(error) = self.storage.renew().await {
                    // the next flush tells, and what is at work may still end well
                    tracing::debug!(%error, "the session could not be renewed");
                }
            }
        };
        match select(pin!(work), pin!(renew)).await {
            Either::Left((done, _)) => done,
            Either::Right((never, _)) => never,
        }
    }

    /// The messages that other processes left, as items. The entry of each, if it is committed, takes its message in.
    pub(crate) async fn take_inbox(&self) -> Result<Vec<Item>, StorageError> {
        let messages = self.storage.inbox().await?;
        let named: Vec<_> =
            messages.into_iter().map(|message| (Item::notification(message.text), message.id)).collect();
        let items = named.iter().map(|(item, _)| item.clone()).collect();
        self.lock().named = named;
        Ok(items)
    }

    /// Records something that is no item.
    pub(crate) fn record(&self, body: EntryBody) {
        self.append(&mut self.lock(), body);
    }

    /// Goes back to the end of this turn: what was recorded since is void. The tasks follow. Returns what is left; none if there
    /// was no such turn, and then nothing is recorded.
    pub(crate) fn rewind(&self, turn: u64) -> Option<Session> {
        self.tasks.replace_with(|| {
            let mut state = self.lock();
            if turn > state.turn {
                return None;
            }
            let to_seq = Branch::new(&state.entries).end_of_turn(turn);
            state.waiting.clear();
            state.turn = turn;
            self.append(&mut state, EntryBody::Rewind { to_seq });
            let session = Session::fold(&self.header, &state.entries);
            state.hidden = 0;
            state.turn = session.turn;
            state.rounds = Rounds::of(&session.items);
            Some((session.tasks.snapshot(), session))
        })
    }

    /// The number of the last turn.
    pub(crate) fn turn(&self) -> u64 {
        self.lock().turn
    }

    /// The records so far and the header for a session that begins with them.
    pub(crate) fn forked(&self) -> (Header, Vec<Entry>) {
        let state = self.lock();
        (self.header.forked(&state.entries), state.entries.clone())
    }

    /// Makes everything durable and gives the session up.
    pub(crate) async fn close(&self) -> Result<(), StorageError> {
        self.storage.close().await
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

    /// Records a compaction, and returns what the model gets.
    fn record_compact(&self, summary: &str, tail: usize, usage: Option<Usage>, snapshot: TaskSnapshot) -> String {
        let mut state = self.lock();
        let base_seq = state.next_seq.saturating_sub(1);
        let settings = Session::settings(&self.header, &state.entries);
        let branch = Branch::new(&state.entries);
        let mut items = branch.live.iter().filter(|entry| matches!(entry.body, EntryBody::Item(_)));
        let compact = Compact {
            base_seq,
            summary: summary.to_owned(),
            tail_from: items.nth(state.hidden + tail).map_or(state.next_seq, |entry| entry.seq),
            tasks: CompactTasks::new(snapshot, base_seq),
            counters: self.reminders.state(),
            instructions: settings.instructions,
            dialect: settings.dialect,
        };
        if let Ok(raw) = to_raw_value(&compact) {
            let entry = Entry::new(state.next_seq, state.turn, EntryBody::Compact(raw));
            self.append_entry(&mut state, Entry { usage: usage.map(Box::new), ..entry });
        }
        compact.text()
    }

    fn append(&self, state: &mut State, body: EntryBody) {
        self.append_entry(state, Entry::new(state.next_seq, state.turn, body));
    }

    fn append_entry(&self, state: &mut State, mut entry: Entry) {
        if let EntryBody::Item(item) = &entry.body
            // the very item, not an equal one
            && let Some(place) = state.named.iter().position(|(named, _)| Arc::ptr_eq(named.raw(), item.raw()))
        {
            entry.id = state.named.swap_remove(place).1;
        }
        self.storage.append(&entry);
        state.entries.push(entry);
        state.next_seq += 1;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The messages that count.
fn items_of(entries: &[Entry]) -> Vec<Item> {
    let item = |entry: &&Entry| match &entry.body {
        EntryBody::Item(item) => Some(item.clone()),
        _ => None,
    };
    Branch::new(entries).live.iter().filter_map(item).collect()
}

#[derive(Deserialize)]
struct Done {
    taskid: TaskId,
}

#[async_trait]
impl Journal for Ledger {
    fn commit(&self, item: &Item, turn: u64) {
        self.commit_answer(item, turn, None);
    }

    fn commit_answer(&self, item: &Item, turn: u64, usage: Option<Usage>) {
        let mut state = self.lock();
        state.turn = turn;
        if item.kind() != ItemKind::Tool {
            self.settle(&mut state, item);
        }
        let entry = Entry::new(state.next_seq, turn, EntryBody::Item(item.clone()));
        self.append_entry(&mut state, Entry { usage: usage.map(Box::new), ..entry });
        if item.kind() == ItemKind::Tool {
            self.settle(&mut state, item);
        }
    }

    fn dialect(&self, learned: &LearnedDialect) {
        if let Ok(learned) = to_raw_value(learned) {
            self.record(EntryBody::Dialect(learned));
        }
    }

    fn compact(&self, summary: &str, tail: usize) -> String {
        self.compact_answer(summary, tail, None)
    }

    fn compact_answer(&self, summary: &str, tail: usize, usage: Option<Usage>) -> String {
        self.tasks.with_snapshot(|snapshot| self.record_compact(summary, tail, usage, snapshot))
    }

    async fn flush(&self) -> Result<(), JournalError> {
        self.storage.flush().await.map_err(Into::into)
    }

    async fn renew(&self) -> Result<(), JournalError> {
        self.storage.renew().await.map_err(Into::into)
    }
}

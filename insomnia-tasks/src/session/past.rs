use std::path::Path;

use serde_json::value::RawValue;

use super::{Compact, Damage, Entry, EntryBody, FileStore, Header, OpenError, StoredSession, branch::Branch};
use crate::{
    Item,
    reminder::ReminderState,
    task::{Task, TaskFold, TaskStore},
    worker::{Resumed, Summarised},
};

/// What the records of a session say once they are folded: its messages, its tasks, its counters.
///
/// Only the live branch counts: what a rewind left behind is as if it had never been, but for the ids of its tasks, which are
/// not given again. Reading takes no lock, so a session can be looked at while it is in use:
///
/// ```no_run
/// let session = insomnia_tasks::session::Session::read("sessions/today")?;
/// for task in session.tasks().list() {
///     println!("{} {} {}", task.taskid, task.status, task.subject);
/// }
/// # Ok::<(), insomnia_tasks::session::OpenError>(())
/// ```
#[derive(Debug)]
pub struct Session {
    pub(crate) header: Header,
    pub(crate) items: Vec<Item>,
    /// The turn of each item.
    pub(crate) turns: Vec<u64>,
    pub(crate) turn: u64,
    /// What is sent in place of the older items, after a compaction.
    pub(crate) summarised: Option<Summarised>,
    pub(crate) instructions: Option<String>,
    pub(crate) dialect: Option<Box<RawValue>>,
    pub(crate) tasks: TaskStore,
    pub(crate) counters: ReminderState,
    pub(crate) damage: Vec<Damage>,
    last_time: u64,
}

impl Session {
    /// Reads the session in this folder as it is now; nothing is changed or locked. Blocks while it reads.
    ///
    /// # Errors
    /// If there is no session, or it cannot be read.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        FileStore::read(folder.as_ref()).map(|stored| Self::fold_stored(&stored))
    }

    /// Folds what a storage found; records of unknown kinds are skipped.
    pub(crate) fn fold_stored(stored: &StoredSession) -> Self {
        Self { damage: stored.damage.clone(), ..Self::fold(&stored.header, &stored.entries) }
    }

    /// Folds a session's records: first the rewinds, then what is left from the newest compaction on.
    pub(crate) fn fold(header: &Header, entries: &[Entry]) -> Self {
        let branch = Branch::new(entries);
        let mut session = Self::empty(header.clone());
        let compact = branch.live.iter().rev().find_map(|entry| Compact::read(entry));
        if let Some(compact) = &compact {
            session.tasks.restore(compact.tasks.to_snapshot());
            session.counters = compact.counters;
        }
        session.fold_branch(&branch.live, compact.as_ref());
        if branch.rewound {
            session.tasks.raise_next_id(highest(entries));
        }
        session.last_time = entries.iter().map(|entry| entry.time).fold(header.created, u64::max);
        Settings { instructions: session.instructions, dialect: session.dialect } = Self::settings(header, entries);
        session
    }

    /// A session in which nothing was said yet.
    pub(crate) fn empty(header: Header) -> Self {
        Self {
            instructions: header.instructions.clone(),
            last_time: header.created,
            header,
            items: Vec::new(),
            turns: Vec::new(),
            turn: 0,
            summarised: None,
            dialect: None,
            tasks: TaskStore::new(),
            counters: ReminderState::default(),
            damage: Vec::new(),
        }
    }

    fn fold_branch(&mut self, live: &[&Entry], compact: Option<&Compact>) {
        let applied = compact.map_or(0, |compact| compact.tasks.applied_through);
        let counted = compact.map_or(0, |compact| compact.base_seq);
        let mut fold = TaskFold::new(self.tasks.clone());
        let (mut before_tail, mut before_compact) = (0, 0);
        for entry in live {
            self.turn = self.turn.max(entry.turn);
            match &entry.body {
                EntryBody::Item(item) => {
                    let tail = compact.is_none_or(|compact| entry.seq >= compact.tail_from);
                    match entry.seq > applied {
                        true => fold.push(item),
                        false if tail => fold.pass(item),
                        false => {}
                    }
                    if entry.seq > counted {
                        self.counters.observe(item);
                    }
                    before_tail += usize::from(!tail);
                    before_compact += usize::from(entry.seq <= counted);
                    self.items.push(item.clone());
                    self.turns.push(entry.turn);
                }
                EntryBody::TaskEdit(task) if entry.seq > applied => {
                    if let Ok(task) = serde_json::from_str::<Task>(task.get()) {
                        self.tasks.set(task);
                    }
                }
                _ => {}
            }
        }
        self.summarised =
            compact.map(|compact| Summarised { text: compact.text(), tail: before_tail, until: before_compact });
    }

    /// What the host and the server want is no part of the conversation: the last word counts, rewound or not.
    pub(super) fn settings(header: &Header, entries: &[Entry]) -> Settings {
        let mut settings = Settings { instructions: header.instructions.clone(), dialect: None };
        for entry in entries {
            match &entry.body {
                EntryBody::Instructions(text) => settings.instructions = Some(text.clone()),
                EntryBody::Dialect(dialect) => settings.dialect = Some(dialect.clone()),
                EntryBody::Compact(_) => {
                    // the records before it need not be there
                    if let Some(compact) = Compact::read(entry) {
                        settings.instructions = compact.instructions.or(settings.instructions);
                        settings.dialect = compact.dialect.or(settings.dialect);
                    }
                }
                _ => {}
            }
        }
        settings
    }

    /// What a loop needs to go on from here.
    pub(crate) fn into_resumed(self) -> Resumed {
        Resumed { items: self.items, turns: self.turns, turn: self.turn, summarised: self.summarised }
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.header.session
    }

    /// The session that this one was forked from.
    pub fn parent(&self) -> Option<&super::Parent> {
        self.header.parent.as_ref()
    }

    /// When the session was made, in milliseconds since 1970.
    pub fn created(&self) -> u64 {
        self.header.created
    }

    /// When its last record was made, in milliseconds since 1970.
    pub fn updated(&self) -> u64 {
        self.last_time
    }

    /// The number of the last turn; 0 before the first.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// The messages, oldest first, as they were sent or received. A compaction takes none away.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The tasks. Changes to them stay in this store.
    pub fn tasks(&self) -> &TaskStore {
        &self.tasks
    }

    /// The system prompt.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// What is sent in place of the older messages since the last compaction; none if there was none.
    pub fn summary(&self) -> Option<&str> {
        self.summarised.as_ref().map(|summarised| summarised.text.as_str())
    }

    /// The counters of the reminder.
    pub fn reminder_state(&self) -> ReminderState {
        self.counters
    }

    /// What was found damaged and was passed over; empty for a whole session.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }
}

/// What a session was last told of its surroundings.
pub(super) struct Settings {
    pub(super) instructions: Option<String>,
    pub(super) dialect: Option<Box<RawValue>>,
}

/// The id after the highest that any record ever gave to a task.
fn highest(entries: &[Entry]) -> crate::task::TaskId {
    let tasks = TaskStore::new();
    let mut fold = TaskFold::new(tasks.clone());
    for entry in entries {
        match &entry.body {
            EntryBody::Item(item) => fold.push(item),
            EntryBody::TaskEdit(task) => {
                if let Ok(task) = serde_json::from_str::<Task>(task.get()) {
                    tasks.set(task);
                }
            }
            EntryBody::Compact(_) => {
                if let Some(compact) = Compact::read(entry) {
                    tasks.raise_next_id(compact.tasks.next_id);
                }
            }
            _ => {}
        }
    }
    tasks.snapshot().next_id
}

use std::path::Path;

use serde_json::value::RawValue;

use super::{Damage, Entry, EntryBody, FileStore, OpenError, StoredSession};
use crate::{
    Item,
    reminder::ReminderState,
    task::{Task, TaskFold, TaskStore},
};

/// What the records of a session say once they are folded: its messages, its tasks, its counters.
///
/// Reading takes no lock, so a session can be looked at while it is in use:
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
    pub(crate) items: Vec<Item>,
    pub(crate) turn: u64,
    pub(crate) instructions: Option<String>,
    pub(crate) dialect: Option<Box<RawValue>>,
    pub(crate) tasks: TaskStore,
    pub(crate) damage: Vec<Damage>,
}

impl Session {
    /// Reads the session in this folder as it is now; nothing is changed or locked. Blocks while it reads.
    ///
    /// # Errors
    /// If there is no session, or it cannot be read.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        FileStore::read(folder.as_ref()).map(Self::fold)
    }

    /// A session in which nothing was said yet.
    pub(crate) fn empty(instructions: Option<String>) -> Self {
        Self { items: Vec::new(), turn: 0, instructions, dialect: None, tasks: TaskStore::new(), damage: Vec::new() }
    }

    /// Folds a session's records; records of unknown kinds are skipped.
    pub(crate) fn fold(stored: StoredSession) -> Self {
        let StoredSession { header, entries, damage, .. } = stored;
        let mut session = Self { damage, ..Self::empty(header.instructions) };
        let mut fold = TaskFold::new(session.tasks.clone());
        for Entry { turn, body, .. } in entries {
            session.turn = session.turn.max(turn);
            match body {
                EntryBody::Item(item) => {
                    fold.push(&item);
                    session.items.push(item);
                }
                EntryBody::TaskEdit(task) => {
                    if let Ok(task) = serde_json::from_str::<Task>(task.get()) {
                        session.tasks.set(task);
                    }
                }
                EntryBody::Instructions(text) => session.instructions = Some(text),
                EntryBody::Dialect(dialect) => session.dialect = Some(dialect),
                EntryBody::Unknown(_) => {}
            }
        }
        session
    }

    /// The messages, oldest first, as they were sent or received.
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

    /// The counters of the reminder.
    pub fn reminder_state(&self) -> ReminderState {
        let mut state = ReminderState::default();
        self.items.iter().for_each(|item| state.observe(item));
        state
    }

    /// What was found damaged and was passed over; empty for a whole session.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }
}

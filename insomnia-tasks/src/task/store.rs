use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use super::{
    Task, TaskChange, TaskChanges, TaskError, TaskId, TaskPatch, TaskStatus,
    value::{check_description, check_subject},
};

/// How many changes a subscriber may be behind.
const CHANGES_KEPT: usize = 256;

/// How many active ids an error names.
const IDS_NAMED: usize = 20;

/// The session's tasks, shared by the four tools, the reminder and the host. Cheap to clone: clones are handles to the
/// same tasks.
///
/// `get` and `update` cost the same however many tasks there are, and the active ones are found without a look at the
/// finished ones.
///
/// ```
/// use insomnia_tasks::task::{TaskStatus, TaskStore};
///
/// let tasks = TaskStore::new();
/// let task = tasks.create("Write the parser", "for the config file")?;
/// tasks.update(task.taskid, TaskStatus::Completed)?;
/// assert_eq!(tasks.counts().completed, 1);
/// assert!(!tasks.has_active());
/// # Ok::<(), insomnia_tasks::task::TaskError>(())
/// ```
#[derive(Clone)]
pub struct TaskStore(
    // a std mutex: it is held for a few map operations and never across an await
    Arc<Mutex<State>>,
);

struct State {
    next_id: TaskId,
    tasks: HashMap<TaskId, Task>,
    active: BTreeSet<(Rank, TaskId)>,
    counts: TaskCounts,
    recorder: Option<Recorder>,
    /// Made for the first subscriber: its buffer would be most of what an idle session needs.
    changes: Option<broadcast::Sender<TaskChange>>,
}

/// Is told each change and who made it, under the store's lock, so that a session can keep them in order.
type Recorder = Box<dyn Fn(Author, &Task) + Send + Sync>;

/// The order in which active tasks are shown: those in progress first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    InProgress,
    Pending,
}

/// Who changes a task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author {
    /// The model, through a call that stands in the history.
    Model,
    /// The host, of which the history knows nothing yet.
    Host,
}

/// How many tasks stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCounts {
    /// Not begun.
    pub pending: usize,
    /// Being worked on.
    pub inprogress: usize,
    /// Done.
    pub completed: usize,
    /// No longer wanted.
    pub deleted: usize,
}

impl TaskCounts {
    /// How many are `pending` or `inprogress`.
    pub fn active(&self) -> usize {
        self.pending + self.inprogress
    }

    fn of(&mut self, status: TaskStatus) -> &mut usize {
        match status {
            TaskStatus::Pending => &mut self.pending,
            TaskStatus::InProgress => &mut self.inprogress,
            TaskStatus::Completed => &mut self.completed,
            TaskStatus::Deleted => &mut self.deleted,
        }
    }
}

/// All tasks and the next id, as a session keeps them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSnapshot {
    /// The id that the next new task gets.
    pub next_id: TaskId,
    /// The tasks by id.
    pub tasks: BTreeMap<TaskId, Task>,
}

impl TaskStore {
    /// An empty store; the first task gets the id 1.
    pub fn new() -> Self {
        let state = State {
            next_id: TaskId::FIRST,
            tasks: HashMap::new(),
            active: BTreeSet::new(),
            counts: TaskCounts::default(),
            recorder: None,
            changes: None,
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Adds a task with the status `pending`.
    ///
    /// # Errors
    /// If the subject is empty or one of the texts is too long.
    pub fn create(&self, subject: impl Into<String>, description: impl Into<String>) -> Result<Task, TaskError> {
        self.create_as(Author::Host, subject.into(), description.into())
    }

    /// Changes a task; a [`TaskStatus`] alone is a patch too.
    ///
    /// # Errors
    /// If there is no such task, the patch is empty, or a text is refused.
    pub fn update(&self, taskid: TaskId, patch: impl Into<TaskPatch>) -> Result<Task, TaskError> {
        self.update_as(Author::Host, taskid, patch.into())
    }

    pub(crate) fn create_as(&self, author: Author, subject: String, description: String) -> Result<Task, TaskError> {
        check_subject(&subject)?;
        check_description(&description)?;
        let mut state = self.lock();
        let task = Task { taskid: state.next_id, status: TaskStatus::Pending, subject, description };
        state.set(task.clone());
        state.told(author, &task, TaskChange::Created);
        Ok(task)
    }

    pub(crate) fn update_as(&self, author: Author, taskid: TaskId, patch: TaskPatch) -> Result<Task, TaskError> {
        patch.check()?;
        let mut state = self.lock();
        let Some(mut task) = state.tasks.get(&taskid).cloned() else {
            return Err(state.unknown(taskid));
        };
        patch.apply(&mut task);
        state.set(task.clone());
        state.told(author, &task, TaskChange::Updated);
        Ok(task)
    }

    /// The task with this id.
    pub fn get(&self, taskid: TaskId) -> Option<Task> {
        self.lock().tasks.get(&taskid).cloned()
    }

    /// All tasks by id, deleted ones included.
    pub fn list(&self) -> Vec<Task> {
        let mut tasks: Vec<_> = self.lock().tasks.values().cloned().collect();
        tasks.sort_unstable_by_key(|task| task.taskid);
        tasks
    }

    /// At most `limit` active tasks: those in progress first, then by id.
    pub fn active(&self, limit: usize) -> Vec<Task> {
        self.lock().active().take(limit).cloned().collect()
    }

    /// Looks at the active tasks, in the order in which they are shown, and how many tasks stand where, both of the same
    /// moment. Nothing is copied.
    pub(crate) fn with_active<T>(&self, look: impl FnOnce(&mut dyn Iterator<Item = &Task>, TaskCounts) -> T) -> T {
        let state = self.lock();
        look(&mut state.active(), state.counts)
    }

    /// Whether any task is `pending` or `inprogress`.
    pub fn has_active(&self) -> bool {
        !self.lock().active.is_empty()
    }

    /// How many tasks stand where.
    pub fn counts(&self) -> TaskCounts {
        self.lock().counts
    }

    /// Tells all changes from now on. The store never waits for a subscriber.
    pub fn subscribe(&self) -> TaskChanges {
        let mut state = self.lock();
        let changes = state.changes.get_or_insert_with(|| broadcast::channel(CHANGES_KEPT).0);
        TaskChanges::new(changes.subscribe())
    }

    /// All tasks and the next id.
    pub fn snapshot(&self) -> TaskSnapshot {
        self.lock().snapshot()
    }

    /// Replaces all tasks; no recorder is told. The next id becomes the snapshot's, or the one after its last task.
    #[cfg(any(feature = "client", test))]
    pub(crate) fn restore(&self, snapshot: TaskSnapshot) {
        self.lock().restore(snapshot);
    }

    /// Replaces all tasks by those that `make` returns, if any, while no other change can come between. Ids that were given stay
    /// given.
    #[cfg(feature = "client")]
    pub(crate) fn replace_with<T>(&self, make: impl FnOnce() -> Option<(TaskSnapshot, T)>) -> Option<T> {
        let mut state = self.lock();
        let (mut snapshot, made) = make()?;
        snapshot.next_id = snapshot.next_id.max(state.next_id);
        state.restore(snapshot);
        Some(made)
    }

    /// The error for an id that no task has.
    pub(crate) fn unknown(&self, taskid: TaskId) -> TaskError {
        self.lock().unknown(taskid)
    }

    /// Sets a task as it stands, its id included.
    pub(crate) fn set(&self, task: Task) {
        self.lock().set(task);
    }

    /// Ids below this one are never given again.
    #[cfg(feature = "client")]
    pub(crate) fn raise_next_id(&self, next_id: TaskId) {
        let mut state = self.lock();
        state.next_id = state.next_id.max(next_id);
    }

    /// Looks at all tasks while none can change.
    #[cfg(feature = "client")]
    pub(crate) fn with_snapshot<T>(&self, look: impl FnOnce(TaskSnapshot) -> T) -> T {
        let state = self.lock();
        look(state.snapshot())
    }

    /// From now on the recorder is told each change and who made it.
    #[cfg(feature = "client")]
    pub(crate) fn record_with(&self, recorder: impl Fn(Author, &Task) + Send + Sync + 'static) {
        self.lock().recorder = Some(Box::new(recorder));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // what runs under the lock beside this file's code is the recorder, after a change was made, and looks that change
        // nothing: the state is whole
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for TaskStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskStore").field(&self.counts()).finish()
    }
}

impl State {
    fn active(&self) -> impl Iterator<Item = &Task> {
        self.active.iter().filter_map(|(_, id)| self.tasks.get(id))
    }

    fn told(&self, author: Author, task: &Task, change: fn(Task) -> TaskChange) {
        if let Some(recorder) = &self.recorder {
            recorder(author, task);
        }
        self.tell(change(task.clone()));
    }

    fn tell(&self, change: TaskChange) {
        if let Some(changes) = &self.changes {
            // an error only says that nobody listens
            let _ = changes.send(change);
        }
    }

    fn snapshot(&self) -> TaskSnapshot {
        TaskSnapshot { next_id: self.next_id, tasks: self.tasks.iter().map(|(id, task)| (*id, task.clone())).collect() }
    }

    #[cfg(any(feature = "client", test))]
    fn restore(&mut self, snapshot: TaskSnapshot) {
        self.tasks.clear();
        self.active.clear();
        self.counts = TaskCounts::default();
        self.next_id = snapshot.next_id;
        for task in snapshot.tasks.into_values() {
            self.set(task);
        }
        self.tell(TaskChange::Reread);
    }

    fn unknown(&self, taskid: TaskId) -> TaskError {
        TaskError::Unknown { taskid, active: self.active.iter().map(|&(_, id)| id).take(IDS_NAMED).collect() }
    }

    fn set(&mut self, task: Task) {
        self.next_id = self.next_id.max(task.taskid.next());
        if let Some(old) = self.tasks.get(&task.taskid) {
            *self.counts.of(old.status) -= 1;
            if let Some(rank) = rank(old) {
                self.active.remove(&(rank, old.taskid));
            }
        }
        *self.counts.of(task.status) += 1;
        if let Some(rank) = rank(&task) {
            self.active.insert((rank, task.taskid));
        }
        self.tasks.insert(task.taskid, task);
    }
}

fn rank(task: &Task) -> Option<Rank> {
    match task.status {
        TaskStatus::InProgress => Some(Rank::InProgress),
        TaskStatus::Pending => Some(Rank::Pending),
        TaskStatus::Completed | TaskStatus::Deleted => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u64) -> TaskId {
        TaskId::new(number).unwrap()
    }

    #[test]
    fn counts_and_active_follow_every_change() {
        let tasks = TaskStore::new();
        for number in 1..=3 {
            assert_eq!(tasks.create(format!("task {number}"), "").unwrap().taskid, id(number));
        }
        tasks.update(id(3), TaskStatus::InProgress).unwrap();
        tasks.update(id(1), TaskStatus::Completed).unwrap();
        assert_eq!(tasks.active(9).iter().map(|task| task.taskid.get()).collect::<Vec<_>>(), [3, 2]);
        assert_eq!(tasks.counts(), TaskCounts { pending: 1, inprogress: 1, completed: 1, deleted: 0 });
        tasks.update(id(1), TaskStatus::Pending).unwrap();
        tasks.update(id(2), TaskStatus::Deleted).unwrap();
        tasks.update(id(3), TaskStatus::Deleted).unwrap();
        assert_eq!(tasks.active(9).iter().map(|task| task.taskid.get()).collect::<Vec<_>>(), [1]);
        assert_eq!(tasks.list().len(), 3);
    }

    #[test]
    fn nothing_is_stored_on_error() {
        let tasks = TaskStore::new();
        tasks.create("one", "").unwrap();
        let before = tasks.snapshot();
        assert_eq!(tasks.create(" \n", ""), Err(TaskError::EmptySubject));
        assert_eq!(tasks.create("x".repeat(1_001), ""), Err(TaskError::SubjectTooLong { bytes: 1_001 }));
        assert_eq!(tasks.create("x", "y".repeat(16_385)), Err(TaskError::DescriptionTooLong { bytes: 16_385 }));
        assert_eq!(tasks.update(id(1), TaskPatch::default()), Err(TaskError::NothingToChange));
        let bad = TaskPatch { subject: Some(String::new()), ..TaskStatus::Completed.into() };
        assert_eq!(tasks.update(id(1), bad), Err(TaskError::EmptySubject));
        assert_eq!(
            tasks.update(id(2), TaskStatus::Completed).unwrap_err().to_string(),
            "there is no task 2; active: 1"
        );
        assert_eq!(tasks.snapshot(), before);
    }

    #[test]
    fn an_unknown_id_names_at_most_twenty_active_ones() {
        let tasks = TaskStore::new();
        for number in 0..30 {
            tasks.create(number.to_string(), "").unwrap();
        }
        let Err(TaskError::Unknown { active, .. }) = tasks.update(id(99), TaskStatus::Completed) else { panic!() };
        assert_eq!(active.len(), 20);
    }

    #[test]
    fn a_slow_subscriber_blocks_nobody_and_is_told_to_reread() {
        let tasks = TaskStore::new();
        let mut changes = tasks.subscribe();
        let task = tasks.create("one", "").unwrap();
        assert_eq!(changes.try_next(), Some(TaskChange::Created(task)));
        for number in 0..1_000 {
            tasks.create(number.to_string(), "").unwrap();
        }
        assert_eq!(changes.try_next(), Some(TaskChange::Reread));
        assert!(matches!(changes.try_next(), Some(TaskChange::Created(_))));
    }

    #[test]
    fn ids_are_never_given_twice_however_many_threads_ask() {
        let tasks = TaskStore::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..250).for_each(|_| drop(tasks.create("x", "").unwrap())));
            }
        });
        let ids: Vec<_> = tasks.list().iter().map(|task| task.taskid.get()).collect();
        assert_eq!(ids, (1..=1_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_snapshot_restores_everything() {
        let tasks = TaskStore::new();
        tasks.create("one", "d").unwrap();
        tasks.create("two", "").unwrap();
        tasks.update(id(2), TaskStatus::InProgress).unwrap();
        let mut snapshot = tasks.snapshot();
        snapshot.next_id = id(9);
        let copy = TaskStore::new();
        copy.create("gone", "").unwrap();
        copy.restore(snapshot);
        assert_eq!((copy.list(), copy.counts(), copy.active(9)), (tasks.list(), tasks.counts(), tasks.active(9)));
        assert_eq!(copy.create("next", "").unwrap().taskid, id(9));
    }
}

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Cadence, Decision, ReminderState, Situation, TASKS_SHOWN, estimate_tokens, reminder_text};
use crate::{Item, task::TaskStore};

/// The reminders of one session. Cheap to clone: clones are handles to the same counters.
///
/// A `Pod` and [`Tasks`](crate::Tasks) have one and drive it; the host pauses it and looks at it. A loop that is neither
/// drives it with [`decide`](Self::decide) and [`observe`](Self::observe):
///
/// ```
/// use insomnia_tasks::{
///     Item,
///     reminder::{Cadence, Reminders},
///     task::TaskStore,
/// };
///
/// let (tasks, reminders) = (TaskStore::new(), Reminders::new(Cadence::new(1, 3)?));
/// tasks.create("Write the changelog", "")?;
/// reminders.observe(&Item::assistant_message("I am reading.")); // every committed item
/// let (decision, reminder) = reminders.decide(&tasks, true); // before every request
/// assert_eq!(decision.word(), "remind");
/// assert!(reminder.is_some_and(|item| item.text().is_some_and(|text| text.contains("changelog"))));
///
/// reminders.pause();
/// assert_eq!(reminders.decide(&tasks, true).0.word(), "paused");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Reminders(Arc<Shared>);

struct Shared {
    cadence: Cadence,
    // a std mutex: it is held for a few assignments and never across an await
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    state: ReminderState,
    paused: bool,
    last_decision: Option<Decision>,
}

impl Reminders {
    /// Reminders at this cadence, with the counters of a session that has just begun.
    pub fn new(cadence: Cadence) -> Self {
        Self(Arc::new(Shared { cadence, inner: Mutex::default() }))
    }

    /// How often reminders may come.
    pub fn cadence(&self) -> Cadence {
        self.0.cadence
    }

    /// No reminders until [`resume`](Self::resume); requests still count.
    pub fn pause(&self) {
        self.lock().paused = true;
    }

    /// Reminders again.
    pub fn resume(&self) {
        self.lock().paused = false;
    }

    /// Whether the host has paused reminders.
    pub fn is_paused(&self) -> bool {
        self.lock().paused
    }

    /// What was decided before the last request; none before the first.
    pub fn last_decision(&self) -> Option<Decision> {
        self.lock().last_decision
    }

    /// The counters.
    pub fn state(&self) -> ReminderState {
        self.lock().state
    }

    /// Goes on from these counters.
    #[cfg(feature = "client")]
    pub(crate) fn restore(&self, state: ReminderState) {
        self.lock().state = state;
    }

    /// Takes in the next item of the history, whoever committed it.
    pub fn observe(&self, item: &Item) {
        self.lock().state.observe(item);
    }

    /// Decides before a request, which offers the task tools or not; the item, if there is one, starts the cooldown
    /// once it is [observed](Self::observe).
    pub fn decide(&self, tasks: &TaskStore, offered: bool) -> (Decision, Option<Item>) {
        let mut inner = self.lock();
        let text = tasks.with_active(|active, counts| {
            let situation = Situation { active: counts.active() > 0, offered, paused: inner.paused };
            inner.state.due(self.0.cadence, situation)?;
            let shown: Vec<_> = active.take(TASKS_SHOWN).collect();
            Ok(reminder_text(&shown, counts))
        });
        let (decision, item) = match text {
            Err(why) => (Decision::Quiet(why), None),
            Ok(text) => (Decision::Remind { tokens: estimate_tokens(&text) }, Some(Item::task_reminder(text))),
        };
        inner.last_decision = Some(decision);
        (decision, item)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Reminders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.lock();
        f.debug_struct("Reminders")
            .field("cadence", &self.0.cadence)
            .field("state", &inner.state)
            .field("paused", &inner.paused)
            .finish()
    }
}

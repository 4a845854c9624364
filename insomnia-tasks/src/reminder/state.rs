use serde::{Deserialize, Serialize};

use super::{Cadence, Quiet};
use crate::{
    Item, ItemKind, Tool,
    task::tools::{TaskCreate, TaskUpdate, changes_tasks},
};

/// The two counters behind the reminder: a pure state machine, kept with the session.
///
/// ```
/// use insomnia_tasks::reminder::{Cadence, ReminderState, Situation};
///
/// let cadence = Cadence::new(2, 4)?;
/// let open = Situation { active: true, offered: true, paused: false };
/// let mut state = ReminderState::default();
/// state.answered(true); // a TaskCreate
/// state.answered(false);
/// assert!(state.due(cadence, open).is_err());
/// state.answered(false);
/// assert!(state.due(cadence, open).is_ok());
/// # Ok::<(), insomnia_tasks::reminder::CadenceError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReminderState {
    /// Requests since the model last called TaskCreate or TaskUpdate; at the start, since the session began.
    pub requests_since_last_task_management: u64,
    /// Requests since the last reminder; none if there was never one.
    pub requests_since_last_reminder: Option<u64>,
}

/// What else decides on a reminder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Whether a task is `pending` or `inprogress`.
    pub active: bool,
    /// Whether the request offers the task tools.
    pub offered: bool,
    /// Whether the host has paused reminders.
    pub paused: bool,
}

impl ReminderState {
    /// Takes in the next item of the history: an answer counts, a reminder starts the cooldown.
    pub fn observe(&mut self, item: &Item) {
        match item.kind() {
            ItemKind::Assistant => self.answered(manages_tasks(item)),
            ItemKind::TaskReminder => self.reminded(),
            _ => {}
        }
    }

    /// An answer was committed; `manages_tasks` if it calls TaskCreate or TaskUpdate, however that ended.
    pub fn answered(&mut self, manages_tasks: bool) {
        self.requests_since_last_task_management += 1;
        if let Some(requests) = &mut self.requests_since_last_reminder {
            *requests += 1;
        }
        if manages_tasks {
            self.requests_since_last_task_management = 0;
        }
    }

    /// A reminder was committed.
    pub fn reminded(&mut self) {
        self.requests_since_last_reminder = Some(0);
    }

    /// Whether a reminder is due before the next request.
    ///
    /// # Errors
    /// The reason why not.
    pub fn due(&self, cadence: Cadence, situation: Situation) -> Result<(), Quiet> {
        let idle = self.requests_since_last_task_management;
        match self.requests_since_last_reminder {
            _ if !situation.active => Err(Quiet::NoActiveTask),
            _ if !situation.offered => Err(Quiet::ToolsNotOffered),
            _ if situation.paused => Err(Quiet::Paused),
            _ if idle < cadence.inactivity().into() => Err(Quiet::UsedRecently { requests_ago: idle }),
            Some(requests_ago) if requests_ago < cadence.cooldown().into() => Err(Quiet::CoolingDown { requests_ago }),
            _ => Ok(()),
        }
    }
}

/// Whether an answer calls TaskCreate or TaskUpdate.
fn manages_tasks(answer: &Item) -> bool {
    // most answers do not, and need not be taken apart to tell; JSON can write a letter as an escape too
    let json = answer.json();
    let named = [TaskCreate::NAME, TaskUpdate::NAME].iter().any(|name| json.contains(name)) || json.contains("\\u");
    named && answer.tool_calls().iter().any(|call| changes_tasks(&call.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_by_its_calls_however_they_are_written() {
        for (name, arguments, manages) in [
            ("TaskUpdate", "{}", true),
            ("Task\\u0043reate", "{}", true),
            ("functions.TaskCreate", "{}", true),
            ("TaskList", "{}", false),
            ("Write", "TaskCreate", false),
            ("Write", "\\u00e9", false),
        ] {
            let function = format!(r#"{{"name":"{name}","arguments":"{arguments}"}}"#);
            let json = format!(r#"{{"role":"assistant","tool_calls":[{{"id":"1","function":{function}}}]}}"#);
            let mut state = ReminderState { requests_since_last_task_management: 4, ..Default::default() };
            state.observe(&Item::from_json(&json).unwrap());
            assert_eq!(state.requests_since_last_task_management, if manages { 0 } else { 5 }, "{json}");
        }
    }
}

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Entry, EntryBody};
use crate::{
    reminder::{ReminderState, task_line},
    task::{Task, TaskCounts, TaskId, TaskSnapshot, TaskStatus},
};

/// The most open tasks that are listed beside a summary.
const TASKS_LISTED: usize = 50;

/// What is sent in place of a session's older records, and their outcome. It refers to them; they all stay where they are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Compact {
    /// The last record whose outcome is in `counters`.
    pub base_seq: u64,
    /// The model's summary of what is no longer sent.
    pub summary: String,
    /// The first record that is still sent as it is; one beyond `base_seq` if none is.
    pub tail_from: u64,
    /// The tasks.
    pub tasks: CompactTasks,
    /// The reminder's counters.
    pub counters: ReminderState,
    /// The system prompt, where it is not the header's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// What the server turned out to want.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Box<RawValue>>,
}

/// The tasks of a [`Compact`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompactTasks {
    /// The id that the next new task gets.
    pub next_id: TaskId,
    /// The last record whose outcome is in `tasks`.
    pub applied_through: u64,
    /// All of them, by id.
    pub tasks: Vec<Task>,
}

impl Compact {
    /// What an entry says, if it is a compaction that makes sense where it stands.
    pub(super) fn read(entry: &Entry) -> Option<Self> {
        let EntryBody::Compact(raw) = &entry.body else { return None };
        let compact: Self = serde_json::from_str(raw.get()).ok()?;
        let before = compact.base_seq < entry.seq && compact.tasks.applied_through < entry.seq;
        (before && compact.tail_from <= entry.seq).then_some(compact)
    }

    /// What the model gets in place of the older messages. It follows from the record alone, so that a resumed session sends
    /// the same bytes.
    pub(super) fn text(&self) -> String {
        let mut counts = TaskCounts::default();
        let mut open = Vec::new();
        for task in &self.tasks.tasks {
            match task.status {
                TaskStatus::Pending => counts.pending += 1,
                TaskStatus::InProgress => counts.inprogress += 1,
                TaskStatus::Completed => counts.completed += 1,
                TaskStatus::Deleted => counts.deleted += 1,
            }
            if matches!(task.status, TaskStatus::Pending | TaskStatus::InProgress) {
                open.push(task);
            }
        }
        open.sort_by_key(|task| (task.status != TaskStatus::InProgress, task.taskid));
        let mut text = format!(
            "<session-summary>\nThe messages before this point were replaced by this summary of them.\n\n{}\n\n",
            self.summary.trim()
        );
        text.push_str(if open.is_empty() { "No task is open" } else { "Open tasks" });
        text.push_str(&format!(" ({} completed, {} deleted", counts.completed, counts.deleted));
        if open.len() > TASKS_LISTED {
            text.push_str(&format!("; {TASKS_LISTED} of {} open ones shown, see TaskList", open.len()));
        }
        text.push_str(if open.is_empty() { ").\n" } else { "):\n" });
        for task in open.into_iter().take(TASKS_LISTED) {
            text.push_str(&task_line(task));
            text.push('\n');
        }
        text.push_str("</session-summary>");
        text
    }
}

impl CompactTasks {
    pub(super) fn new(snapshot: TaskSnapshot, applied_through: u64) -> Self {
        Self { next_id: snapshot.next_id, applied_through, tasks: snapshot.tasks.into_values().collect() }
    }

    pub(super) fn to_snapshot(&self) -> TaskSnapshot {
        let tasks = self.tasks.iter().map(|task| (task.taskid, task.clone())).collect();
        TaskSnapshot { next_id: self.next_id, tasks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_lists_what_is_open_and_counts_the_rest() {
        let task = |number, status| Task {
            taskid: TaskId::new(number).unwrap(),
            status,
            subject: format!("<b> {number}\nx"),
            description: "long".to_owned(),
        };
        let mut tasks = vec![
            task(1, TaskStatus::Completed),
            task(2, TaskStatus::Pending),
            task(3, TaskStatus::InProgress),
            task(4, TaskStatus::Deleted),
        ];
        let compact = |tasks| Compact {
            base_seq: 9,
            summary: " It went well.\n".to_owned(),
            tail_from: 10,
            tasks: CompactTasks { next_id: TaskId::new(5).unwrap(), applied_through: 9, tasks },
            counters: ReminderState::default(),
            instructions: None,
            dialect: None,
        };
        assert_eq!(
            compact(tasks.clone()).text(),
            "<session-summary>\nThe messages before this point were replaced by this summary of them.\n\nIt went well.\n\n\
             Open tasks (1 completed, 1 deleted):\n- 3 [inprogress] &lt;b&gt; 3 x\n- 2 [pending] &lt;b&gt; 2 x\n\
             </session-summary>"
        );
        tasks.truncate(1);
        assert!(compact(tasks).text().contains("\n\nNo task is open (1 completed, 0 deleted).\n</"));
        let many = (1..=60).map(|number| task(number, TaskStatus::Pending)).collect();
        let text = compact(many).text();
        assert!(text.contains("50 of 60 open ones shown") && text.contains("- 50 [") && !text.contains("- 51 ["));
    }
}

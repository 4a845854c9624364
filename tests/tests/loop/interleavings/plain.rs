use insomnia_tasks::{
    reminder::ReminderState,
    task::{TaskSnapshot, TaskStatus},
};

use super::act::Call;

pub(super) const INACTIVITY: u32 = 2;
pub(super) const COOLDOWN: u32 = 3;

/// The rules, written down once more and as plainly as possible.
#[derive(Debug, Default)]
pub(super) struct Plain {
    tasks: Vec<(String, TaskStatus)>,
    idle: u64,
    since_reminder: Option<u64>,
    pub(super) reminders: usize,
}

impl Plain {
    pub(super) fn request(&mut self) {
        let active = self.tasks.iter().any(|(_, status)| status.is_active());
        let cool = self.since_reminder.is_none_or(|requests| requests >= COOLDOWN.into());
        if active && self.idle >= INACTIVITY.into() && cool {
            self.since_reminder = Some(0);
            self.reminders += 1;
        }
    }

    pub(super) fn answer(&mut self, calls: &[Call]) {
        self.idle += 1;
        self.since_reminder = self.since_reminder.map(|requests| requests + 1);
        if calls.iter().any(|call| call.manages()) {
            self.idle = 0;
        }
        // task tools run first
        for call in calls {
            match *call {
                Call::Create(_) => self.tasks.push(("a\nb".to_owned(), TaskStatus::Pending)),
                Call::Update(id, status) => {
                    self.set(id, status);
                }
                _ => {}
            }
        }
        for call in calls {
            if let Call::Meddle(id, status) = *call {
                self.edit(id, status);
            }
        }
    }

    pub(super) fn edit(&mut self, id: u64, status: TaskStatus) {
        if !self.set(id, status) {
            self.tasks.push(("by the host".to_owned(), TaskStatus::Pending));
        }
    }

    fn set(&mut self, id: u64, status: TaskStatus) -> bool {
        let task = usize::try_from(id - 1).ok().and_then(|index| self.tasks.get_mut(index));
        task.map(|task| task.1 = status).is_some()
    }

    pub(super) fn check(&self, tasks: &TaskSnapshot, state: ReminderState) {
        let found: Vec<_> = tasks.tasks.values().map(|task| (task.subject.clone(), task.status)).collect();
        assert_eq!(found, self.tasks);
        assert_eq!(tasks.next_id.get(), self.tasks.len() as u64 + 1);
        let expected = ReminderState {
            requests_since_last_task_management: self.idle,
            requests_since_last_reminder: self.since_reminder,
        };
        assert_eq!(state, expected);
    }
}

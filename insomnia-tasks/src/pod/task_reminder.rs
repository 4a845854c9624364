use async_trait::async_trait;

use crate::{
    Item,
    interceptor::{Interceptor, RequestContext},
    reminder::Reminders,
    task::{TaskStore, tools::TaskToolbox},
    tool::Toolbox,
    worker::Event,
};

/// The reminder as an [`Interceptor`], built on the public trait alone.
#[derive(Clone, Debug)]
pub struct TaskReminder {
    tasks: TaskStore,
    reminders: Reminders,
}

impl TaskReminder {
    /// Reminders of these tasks.
    pub fn new(tasks: TaskStore, reminders: Reminders) -> Self {
        Self { tasks, reminders }
    }
}

#[async_trait]
impl Interceptor for TaskReminder {
    async fn pending_history_appends(&self, request: &RequestContext<'_>) -> Vec<Item> {
        let offered = TaskToolbox::definitions().iter().all(|tool| request.offers(tool.name()));
        let (decision, item) = self.reminders.decide(&self.tasks, offered);
        tracing::debug!(%decision, turn = request.turn, request = request.number, "decided about a reminder");
        request.emit(Event::ReminderDecided(decision));
        item.into_iter().collect()
    }

    fn on_commit(&self, item: &Item) {
        self.reminders.observe(item);
    }
}

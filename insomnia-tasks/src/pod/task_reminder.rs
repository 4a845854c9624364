use async_trait::async_trait;

use crate::{
    Item,
    interceptor::{Interceptor, RequestContext},
    reminder::{Decision, Quiet, Reminders},
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
        trace(decision, request);
        request.emit(Event::ReminderDecided(decision));
        item.into_iter().collect()
    }

    fn on_commit(&self, item: &Item) {
        self.reminders.observe(item);
    }
}

fn trace(decision: Decision, request: &RequestContext<'_>) {
    // exporters write out an unsigned number as text
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let (turn, number, word) = (signed(request.turn), signed(request.number), decision.word());
    match decision {
        Decision::Remind { tokens } => {
            tracing::info!(
                reminder.decision = word,
                reminder.tokens = signed(tokens as u64),
                turn,
                request = number,
                "{decision}"
            );
        }
        Decision::Quiet(why) => {
            let requests_ago = match why {
                Quiet::UsedRecently { requests_ago } | Quiet::CoolingDown { requests_ago } => {
                    Some(signed(requests_ago))
                }
                _ => None,
            };
            tracing::debug!(
                reminder.decision = word,
                reminder.requests_ago = requests_ago,
                turn,
                request = number,
                "{decision}"
            );
        }
    }
}

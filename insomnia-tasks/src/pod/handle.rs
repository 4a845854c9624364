use std::{fmt, sync::Arc};

use async_openai::{Client, config::Config};
use tokio::sync::Mutex;

use super::{PodBuilder, TurnStream, notifications::Notifications};
use crate::{
    Cost, Item,
    reminder::Reminders,
    session::{Damage, Ledger},
    task::TaskStore,
    worker::{Event, History, Turn, TurnError, Worker},
};

/// One agent session: the loop, its tasks, its reminders and its storage.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use async_openai::Client;
/// use insomnia_tasks::Pod;
///
/// let pod = Pod::builder(&Client::new(), "gpt-5-mini")
///     .instructions("You are a careful engineer.")
///     .session("sessions/today")
///     .build()
///     .await?;
/// let turn = pod.run("Plan the release and work through the plan.").await?;
/// println!("{}\n{:?}", turn.text, pod.tasks().counts());
/// # Ok(()) }
/// ```
pub struct Pod {
    // held for a whole turn: turns of one session run one after another
    pub(super) worker: Mutex<Worker>,
    pub(super) ledger: Arc<Ledger>,
    history: History,
    tasks: TaskStore,
    pub(super) reminders: Reminders,
    pub(super) notifications: Notifications,
    damage: Vec<Damage>,
}

impl Pod {
    /// A builder for a session that calls this model at the server of this client. Of the client its
    /// configuration counts: address, key, headers, query. What else it was given, such as an HTTP client, goes to the builder.
    pub fn builder<C: Config + Clone + 'static>(client: &Client<C>, model: impl Into<String>) -> PodBuilder {
        PodBuilder::new(client, model)
    }

    pub(super) fn new(
        worker: Worker,
        ledger: Arc<Ledger>,
        tasks: TaskStore,
        reminders: Reminders,
        notifications: Notifications,
        damage: Vec<Damage>,
    ) -> Self {
        Self { history: worker.history(), worker: Mutex::new(worker), ledger, tasks, reminders, notifications, damage }
    }

    /// Runs one turn: from this prompt to the answer that asks for no tool.
    ///
    /// Dropping the future cancels the turn at once; the next one goes on from what was committed.
    ///
    /// # Errors
    /// If a model call fails, the session cannot be stored, or the limit of requests is reached.
    pub async fn run(&self, prompt: impl Into<Item>) -> Result<Turn, TurnError> {
        self.run_with(prompt, |_| {}).await
    }

    /// Like [`run`](Self::run); `listener` is told what happens meanwhile, from within the turn.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub async fn run_with(
        &self,
        prompt: impl Into<Item>,
        listener: impl Fn(Event) + Send + Sync,
    ) -> Result<Turn, TurnError> {
        let mut worker = self.worker.lock().await;
        let turn = worker.run(prompt, &listener);
        self.ledger.renewing(turn).await
    }

    /// Like [`run`](Self::run), as a stream of what happens. Dropping the stream cancels the turn.
    pub fn stream(&self, prompt: impl Into<Item>) -> TurnStream<'_> {
        TurnStream::new(self, prompt.into())
    }

    /// Makes the session durable as it is now. A turn does so by itself; call this where none follows after one was cancelled
    /// or tasks were changed by the host, for instance before the program ends. Waits for a turn that runs.
    ///
    /// # Errors
    /// If the session cannot be written; a later flush tries again.
    pub async fn flush(&self) -> Result<(), TurnError> {
        self.worker.lock().await.flush().await
    }

    /// A message of the host, such as "the build has finished". It goes with the next request and is placed like a reminder.
    pub fn notify(&self, text: impl Into<String>) {
        self.notifications.push(text.into());
    }

    /// The session's tasks. What the host changes through this handle is kept in the session, as long as the Pod lives.
    pub fn tasks(&self) -> &TaskStore {
        &self.tasks
    }

    /// The history so far: every message as it was sent or received, reminders included.
    #[doc(alias = "get_history")]
    pub fn history(&self) -> Vec<Item> {
        self.history.to_vec()
    }

    /// What tasks and reminders have cost in this session so far.
    pub fn cost(&self) -> Cost {
        Cost::of(&self.history.to_vec())
    }

    /// What was found damaged when the session was opened; empty for a whole session. Nothing of it was thrown away.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// The session's reminders.
    pub fn reminders(&self) -> &Reminders {
        &self.reminders
    }
}

impl fmt::Debug for Pod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pod").field("history", &self.history).field("tasks", &self.tasks).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;

    #[tokio::test]
    async fn what_the_host_changed_is_kept_once_flushed() {
        let folder = tempfile::tempdir().unwrap();
        let pod = Pod::builder(&Client::new(), "any").session(folder.path()).build().await.unwrap();
        pod.tasks().create("tag the release", "").unwrap();
        assert!(Session::read(folder.path()).unwrap().tasks().list().is_empty());
        pod.flush().await.unwrap();
        assert_eq!(Session::read(folder.path()).unwrap().tasks().list(), pod.tasks().list());
    }
}

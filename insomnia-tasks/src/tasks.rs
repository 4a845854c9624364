//! The plugin for a loop of your own: store, tools and reminder, without a [`Worker`](crate::worker::Worker).

use serde::Serialize;

use crate::{
    Item, ItemError, ItemKind, ToolCall,
    reminder::{Cadence, Decision, Reminders, split_reminder},
    task::{
        TaskFold, TaskStore,
        tools::{TaskToolbox, is_task_tool},
    },
    tool::{ToolDefinition, Toolbox},
    wire::{Dialect, HostMessage, LateSystem, append_late},
};

/// The session's tasks for a loop of your own, in three calls: [`definitions`](Self::definitions) for the request,
/// [`before_request`](Self::before_request) on your list of messages, and [`answered`](Self::answered) with what the model said.
///
/// ```
/// use insomnia_tasks::Tasks;
/// use serde_json::{Value, json};
///
/// let tasks = Tasks::for_server("http://localhost:11434/v1", "qwen3");
/// let mut messages = vec![json!({"role": "user", "content": "Plan the release."})];
///
/// let tools = tasks.definitions(); // 1: for the request
/// tasks.before_request(&mut messages); // 2: a reminder, when it is due
/// let answer = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function",
///     "function": {"name": "TaskCreate", "arguments": "{\"subject\":\"Tag it\",\"description\":\"\"}"}}]});
/// let answered = tasks.answered(&answer)?; // 3: what the model answered
/// messages.push(answer);
/// messages.extend(answered.results::<Value>());
/// assert_eq!(tasks.store().list()[0].subject, "Tag it");
/// assert!(answered.others.is_empty());
/// # Ok::<(), insomnia_tasks::ItemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tasks {
    store: TaskStore,
    reminders: Reminders,
    placement: LateSystem,
}

impl Tasks {
    /// Tasks and reminders at the default cadence, for the server at this address and this model. Those decide how a reminder
    /// is placed, see [`Dialect::detect`].
    pub fn for_server(base_url: &str, model: &str) -> Self {
        Self::new(Cadence::default(), Dialect::detect(base_url, model).late_system)
    }

    /// Tasks and reminders at this cadence, placed like this.
    pub fn new(cadence: Cadence, placement: LateSystem) -> Self {
        Self { store: TaskStore::new(), reminders: Reminders::new(cadence), placement }
    }

    /// Takes in the messages of an earlier part of the session: tasks and counters are then as they were, but for what
    /// you changed in the [`store`](Self::store) yourself, which no message tells.
    ///
    /// # Errors
    /// If one is no chat message.
    pub fn resume<M: Serialize>(&self, messages: &[M]) -> Result<(), ItemError> {
        let mut fold = TaskFold::new(self.store.clone());
        for message in messages {
            let item = Item::from_message(message)?;
            let text = item.text().unwrap_or_default();
            // a model may quote one
            let merged = split_reminder(&text).filter(|_| item.kind() != ItemKind::Assistant);
            match (merged, item.kind(), item.tool_call_id()) {
                // what was merged into a result is not part of it
                (Some((own, _)), ItemKind::Tool, Some(call_id)) => fold.push(&Item::tool_message(call_id, own)),
                _ => fold.push(&item),
            }
            self.reminders.observe(&item);
            if let Some((_, reminder)) = merged {
                self.reminders.observe(&Item::task_reminder(reminder));
            }
        }
        Ok(())
    }

    /// Goes on from a session on disk: its tasks, what the host changed included, and its counters.
    #[cfg(feature = "client")]
    pub fn resume_session(&self, session: &crate::session::Session) {
        self.store.restore(session.tasks().snapshot());
        self.reminders.restore(session.reminder_state());
    }

    /// The four tools, to be offered in every request.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        TaskToolbox::definitions()
    }

    /// The four tools in async-openai's type.
    ///
    /// # Errors
    /// If async-openai's type does not take them, which only another version of it could bring about.
    #[cfg(feature = "client")]
    pub fn chat_tools(&self) -> Result<Vec<async_openai::types::chat::ChatCompletionTools>, serde_json::Error> {
        self.definitions().iter().map(|tool| serde_json::from_str(tool.raw().get())).collect()
    }

    /// Before each request: appends a reminder to your messages when one is due, or merges it into the last one, which must not
    /// have been sent yet. Call it once per request, behind the tool results and the user's message; the request must offer the
    /// [`definitions`](Self::definitions). A retry of a failed request needs no second call: the messages have the reminder.
    pub fn before_request<M: HostMessage>(&self, messages: &mut Vec<M>) -> Decision {
        let (decision, reminder) = self.pending_history_append();
        if let Some(reminder) = reminder {
            append_late(messages, &reminder, self.placement);
        }
        decision
    }

    /// Like [`before_request`](Self::before_request), for hosts that place the item themselves: it must go with the next request.
    pub fn pending_history_append(&self) -> (Decision, Option<Item>) {
        let (decision, reminder) = self.reminders.decide(&self.store, true);
        if let Some(reminder) = &reminder {
            self.reminders.observe(reminder);
        }
        (decision, reminder)
    }

    /// After each answer, once: counts it, carries out the calls of the task tools in their order, and tells which calls are
    /// yours. `message` is the assistant message, in async-openai's types or as JSON.
    ///
    /// # Errors
    /// If it is no chat message. Bad arguments are no error: their result tells the model what to do.
    pub fn answered<M: Serialize>(&self, message: &M) -> Result<Answered, ItemError> {
        let item = Item::from_message(message)?;
        self.reminders.observe(&item);
        let (ours, others): (Vec<_>, Vec<_>) = item.tool_calls().into_iter().partition(|call| is_task_tool(&call.name));
        let results = ours.iter().map(|call| Item::tool_message(&call.id, self.carry_out(call))).collect();
        Ok(Answered { results, others })
    }

    fn carry_out(&self, call: &ToolCall) -> String {
        let done = TaskToolbox::decode_call(call).map_err(|error| error.to_string());
        done.and_then(|task| task.apply(&self.store).map_err(|error| error.to_string()))
            .unwrap_or_else(|error| format!("error: {error}"))
    }

    /// The tasks.
    pub fn store(&self) -> &TaskStore {
        &self.store
    }

    /// The reminders: to pause them, or to see what was decided.
    pub fn reminders(&self) -> &Reminders {
        &self.reminders
    }
}

/// What became of an answer's tool calls.
#[derive(Clone, Debug)]
pub struct Answered {
    results: Vec<Item>,
    /// The calls of tools that are not this crate's, for you to carry out.
    pub others: Vec<ToolCall>,
}

impl Answered {
    /// The results of the task tools in your message type, to be appended right behind the assistant message.
    pub fn results<M: HostMessage>(&self) -> Vec<M> {
        self.results.iter().filter_map(M::from_item).collect()
    }

    /// The results as items.
    pub fn items(&self) -> &[Item] {
        &self.results
    }
}

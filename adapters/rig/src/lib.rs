#![doc = include_str!("../README.md")]

use std::sync::{Arc, Mutex, PoisonError};

use insomnia_tasks::{
    Item, ItemError, Tasks, Toolbox,
    reminder::Cadence,
    task::{TaskStore, tools::TaskToolbox},
    wire::LateSystem,
};
use rig_agent::{
    agent::{
        AgentHook, CompletionCallAction, CompletionCallEvent, HookContext, ModelTurnAction, ModelTurnFinished,
        ToolResultAction, ToolResultEvent,
    },
    tool::{DynamicTool, ToolExecutionError, ToolOutput},
};
use rig_core::{
    message::{AssistantContent, Message, MessageError, ToolResultContent},
    providers::openai,
};
use serde_json::json;

/// The tasks and reminders of one session in rig's loop: tools and a hook for the agent. Cheap to clone; clones are handles to the
/// same session, so give each session an agent, or at least a hook, of its own.
#[derive(Clone, Debug)]
pub struct RigTasks {
    tasks: Tasks,
    // a std mutex: it is held for one assignment
    sent: Arc<Mutex<Vec<Message>>>,
}

impl RigTasks {
    /// A new session with reminders at this cadence.
    pub fn new(cadence: Cadence) -> Self {
        // rig has no place for a message of its own, so a reminder is always merged
        Self { tasks: Tasks::new(cadence, LateSystem::Merge), sent: Arc::default() }
    }

    /// The four tools, for [`dynamic_tools`](rig_agent::agent::AgentBuilder::dynamic_tools).
    pub fn tools(&self) -> Vec<DynamicTool> {
        self.tasks.definitions().iter().map(|tool| rig_tool(tool, self.tasks.store().clone())).collect()
    }

    /// The prompt to give to rig, with a reminder behind it when one is due. Keep the returned text where the prompt has to be
    /// given once more.
    pub fn prompt(&self, prompt: impl Into<String>) -> String {
        let mut prompt = prompt.into();
        if let Some(reminder) = self.reminder() {
            prompt.push_str("\n\n");
            prompt.push_str(&reminder);
        }
        prompt
    }

    /// The conversation as it was last sent, for going on after a run that failed: rig's errors do not have it.
    pub fn sent(&self) -> Vec<Message> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes in a conversation from an earlier process: tasks and counters are then as they were.
    ///
    /// # Errors
    /// If rig cannot write a message for a chat-completions server, an image in a tool's result for instance.
    pub fn resume(&self, messages: &[Message]) -> Result<(), MessageError> {
        let wire: Vec<_> = messages.iter().cloned().map(Vec::<openai::Message>::try_from).collect::<Result<_, _>>()?;
        let resumed: Result<(), ItemError> = self.tasks.resume(&wire.concat());
        resumed.map_err(|error| MessageError::ConversionError(error.to_string()))
    }

    /// The session's tasks and reminders.
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    fn reminder(&self) -> Option<String> {
        self.tasks.pending_history_append().1?.text()
    }
}

/// Calls of the running round whose results are still to come.
#[derive(Clone, Default)]
struct Open(usize);

impl AgentHook for RigTasks {
    async fn on_completion_call(&self, _: &HookContext, event: CompletionCallEvent<'_>) -> CompletionCallAction {
        let sent = event.history.iter().chain([event.prompt]).cloned().collect();
        *self.sent.lock().unwrap_or_else(PoisonError::into_inner) = sent;
        CompletionCallAction::continue_run()
    }

    async fn on_model_turn_finished(&self, run: &HookContext, event: ModelTurnFinished<'_>) -> ModelTurnAction {
        let calls: Vec<_> = event.content.iter().filter_map(called).collect();
        run.scratchpad().insert(Open(calls.len()));
        let answer = Item::from_message(&json!({"role": "assistant", "content": null, "tool_calls": calls}));
        self.tasks.reminders().observe(&answer.unwrap_or_else(|_| Item::assistant_message("")));
        ModelTurnAction::continue_run()
    }

    async fn on_tool_result(&self, run: &HookContext, event: ToolResultEvent<'_>) -> ToolResultAction {
        let last = run.scratchpad().update(|open: &mut Open| {
            open.0 = open.0.saturating_sub(1);
            open.0 == 0
        });
        let Some(reminder) = last.then(|| self.reminder()).flatten() else { return ToolResultAction::keep() };
        if let Some(text) = event.presentation.as_text() {
            return ToolResultAction::rewrite(format!("{text}\n\n{reminder}"));
        }
        let mut content = event.presentation.as_content().to_vec();
        content.push(ToolResultContent::text(reminder));
        ToolOutput::content(content).map_or_else(|_| ToolResultAction::keep(), ToolResultAction::rewrite_output)
    }
}

fn called(content: &AssistantContent) -> Option<serde_json::Value> {
    let AssistantContent::ToolCall(call) = content else { return None };
    Some(json!({"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": ""}}))
}

fn rig_tool(definition: &insomnia_tasks::ToolDefinition, store: TaskStore) -> DynamicTool {
    let name = definition.name().to_owned();
    let parameters = serde_json::from_str(definition.parameters().get()).unwrap_or_default();
    DynamicTool::new(name.clone(), definition.description(), parameters, move |_, arguments| {
        let called = TaskToolbox::decode(&name, &arguments.to_string());
        let done = called
            .map_err(|error| error.to_string())
            .and_then(|task| task.apply(&store).map_err(|error| error.to_string()));
        let done =
            done.map(ToolOutput::text).map_err(|error| ToolExecutionError::invalid_args(format!("error: {error}")));
        Box::pin(async move { done })
    })
}

#![doc = include_str!("../README.md")]

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use insomnia_tasks::{
    Item, Tasks, ToolDefinition, ToolError, Toolbox,
    reminder::Cadence,
    session::{Entry, EntryBody, FileOptions, FileStore, OpenError, Session, Storage, StorageError},
    task::tools::{TaskToolbox, changes_tasks, is_task_tool},
    wire::LateSystem,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
    },
    service::RequestContext,
};
use serde_json::json;

/// One session, offered to one MCP client.
#[derive(Debug)]
pub struct TaskServer {
    tasks: Tasks,
    store: FileStore,
    turn: u64,
    // a std mutex: it is held while a call is carried out and its records are queued, never across an await
    next_seq: Mutex<u64>,
}

/// What a call came to.
struct Outcome {
    result: Result<String, String>,
    reminder: Option<Item>,
}

impl TaskServer {
    /// Opens the session in a folder, or makes it. Blocks while it reads.
    ///
    /// # Errors
    /// If another process has it open, or the folder holds something else; see [`OpenError`].
    pub fn open(folder: &Path, cadence: Cadence) -> Result<Self, OpenError> {
        let opened = FileStore::open(folder, FileOptions::new())?;
        let session = Session::read(folder)?;
        let tasks = Tasks::new(cadence, LateSystem::Merge);
        tasks.resume_session(&session);
        let next_seq = Mutex::new(opened.session.next_seq);
        Ok(Self { tasks, store: opened.store, turn: session.turn(), next_seq })
    }

    /// The tasks and their reminders.
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Carries out a call and queues it, its result and a due reminder for the disk. Nothing is awaited, so calls stay in order
    /// and none is recorded in part.
    fn carry_out(&self, name: &str, arguments: &JsonObject) -> Result<Outcome, ErrorData> {
        let mut next_seq = self.next_seq.lock().unwrap_or_else(PoisonError::into_inner);
        let arguments = json!(arguments).to_string();
        let id = format!("call_{next_seq}");
        let function = json!({"name": name, "arguments": arguments});
        let calls = json!([{"id": id, "type": "function", "function": function}]);
        let call = Item::from_message(&json!({"role": "assistant", "content": null, "tool_calls": calls}));
        let call = call.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;

        let decoded = TaskToolbox::decode(name, &arguments).map_err(ToolError::from);
        let result = decoded.and_then(|task| task.apply(self.tasks.store())).map_err(|error| format!("error: {error}"));
        self.tasks.reminders().observe(&call);
        let (Ok(text) | Err(text)) = &result;
        let (_, reminder) = self.tasks.pending_history_append();
        for item in [call, Item::tool_message(&id, text.clone())].into_iter().chain(reminder.clone()) {
            self.store.append(&Entry::new(*next_seq, self.turn, EntryBody::Item(item)));
            *next_seq += 1;
        }
        Ok(Outcome { result, reminder })
    }
}

impl ServerHandler for TaskServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let server = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(server)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tasks.definitions().iter().map(mcp_tool).collect()))
    }

    /// The result of a call, durable before the client gets it.
    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !is_task_tool(&call.name) {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", call.name), None));
        }
        let outcome = self.carry_out(&call.name, &call.arguments.unwrap_or_default())?;
        if let Err(error) = self.store.flush().await {
            return Ok(CallToolResult::error(vec![ContentBlock::text(not_kept(&error))]).into());
        }
        let failed = outcome.result.is_err();
        let (Ok(text) | Err(text)) = outcome.result;
        let mut content = vec![ContentBlock::text(text)];
        content.extend(outcome.reminder.and_then(|reminder| reminder.text()).map(ContentBlock::text));
        Ok(if failed { CallToolResult::error(content) } else { CallToolResult::success(content) }.into())
    }
}

fn not_kept(error: &StorageError) -> String {
    format!("error: the call was carried out, but {error}; tell the user, and do not repeat the call")
}

fn mcp_tool(definition: &ToolDefinition) -> Tool {
    let parameters: JsonObject = serde_json::from_str(definition.parameters().get()).unwrap_or_default();
    let changes = changes_tasks(definition.name());
    let hints = ToolAnnotations::new().read_only(!changes).destructive(false).open_world(false);
    Tool::new(definition.name().to_owned(), definition.description().to_owned(), parameters).with_annotations(hints)
}

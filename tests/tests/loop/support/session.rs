use std::sync::OnceLock;

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{
    Pod, ToolDefinition, ToolError, ToolOutput, ToolSet,
    pod::PodBuilder,
    worker::{RetryPolicy, WorkerSettings},
};
use insomnia_tasks_examples::scripted::ScriptedServer;
use serde_json::json;
use tempfile::TempDir;

/// The HTTP client of all tests: to make one takes longer than most tests.
pub(crate) fn http() -> reqwest::Client {
    static HTTP: OnceLock<reqwest::Client> = OnceLock::new();
    HTTP.get_or_init(reqwest::Client::new).clone()
}

/// A client of this server.
pub(crate) fn client(server: &ScriptedServer) -> Client<OpenAIConfig> {
    let config = OpenAIConfig::new().with_api_base(server.base_url()).with_api_key("key");
    Client::build(http(), config)
}

/// A session with this server, without retries.
pub(crate) fn pod(server: &ScriptedServer, stream: bool) -> PodBuilder {
    Pod::builder(&client(server), "scripted").http_client(http()).settings(quiet()).stream(stream)
}

/// Settings without retries.
pub(crate) fn quiet() -> WorkerSettings {
    let mut settings = WorkerSettings::default();
    settings.retries = RetryPolicy::never();
    settings
}

/// A place for sessions; in memory where the system has such a place, since the loop does not depend on the disk.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Runs a turn until this happens, and drops it.
pub(crate) async fn cancel(pod: &Pod, prompt: &str, when: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        outcome = pod.run(prompt) => panic!("the turn ended by itself: {outcome:?}"),
        () = when => {}
    }
}

/// One tool without parameters that need be given.
pub(crate) fn tool<F, R>(name: &str, run: F) -> ToolSet
where
    F: Fn(String) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    let parameters = json!({"type": "object", "properties": {"text": {"type": "string", "description": "Any text."}}});
    let mut tools = ToolSet::new();
    tools.add_fn(ToolDefinition::new(name, format!("The tool {name}."), parameters).unwrap(), run).unwrap();
    tools
}

/// Several such tools, in this order.
pub(crate) fn tools(sets: impl IntoIterator<Item = ToolSet>) -> ToolSet {
    let mut all = ToolSet::new();
    for set in sets {
        all.extend(&set).unwrap();
    }
    all
}

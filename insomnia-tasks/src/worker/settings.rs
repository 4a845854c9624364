use std::time::Duration;

use serde_json::{Map, Value};

use super::{AutoCompaction, RetryPolicy, Timeouts};
use crate::wire::Dialect;

/// How the loop runs. Change the fields of the default.
///
/// ```
/// use std::time::Duration;
///
/// use insomnia_tasks::worker::{RetryPolicy, WorkerSettings};
/// use serde_json::json;
///
/// let mut settings = WorkerSettings::default();
/// settings.tool_timeout = Some(Duration::from_secs(60));
/// settings.timeouts.total = Some(Duration::from_secs(120));
/// settings.retries = RetryPolicy::never();
/// settings.parameters.insert("temperature".to_owned(), json!(0.2));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkerSettings {
    /// Whether answers are streamed; yes by default.
    pub stream: bool,
    /// Whether a streamed answer is asked to end with a count of its tokens (`stream_options`). By default only where the
    /// [dialect](Dialect::stream_usage) knows that the server takes it, or where a window is to be kept to by
    /// [compaction](AutoCompaction::window); once and for all if set.
    pub stream_usage: Option<bool>,
    /// Answered requests per turn before it ends with an error; 64 by default.
    pub max_requests: u64,
    /// How many tools of one answer run side by side; 8 by default.
    pub tool_concurrency: usize,
    /// How long a tool may run before it is stopped and its result says so; 10 minutes by default, no limit if none. A
    /// tool runs on the turn's own task: one that blocks cannot be stopped, so put blocking work on a
    /// thread (`spawn_blocking`).
    pub tool_timeout: Option<Duration>,
    /// How long to wait for the server.
    pub timeouts: Timeouts,
    /// When a failed model call is tried again.
    pub retries: RetryPolicy,
    /// What the server wants on the wire, once and for all. By default it is detected from the server's address and the model's
    /// name, and changed where the server turns out to refuse it.
    pub dialect: Option<Dialect>,
    /// When the loop compacts its history by itself; never by default.
    pub compaction: Option<AutoCompaction>,
    /// Under which id traces name the conversation; a [`Pod`](crate::Pod) takes its session's if none is set.
    pub conversation: Option<String>,
    /// Under which name traces know the agent; none by default.
    pub agent: Option<String>,
    /// Whether traces carry instructions, messages, and the arguments and results of tools; no by default, since they may hold
    /// anything.
    pub trace_contents: bool,
    /// Further fields of the request, such as `temperature`. Nothing is sent that is not asked for here or by the dialect.
    pub parameters: Map<String, Value>,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self {
            stream: true,
            stream_usage: None,
            max_requests: 64,
            tool_concurrency: 8,
            tool_timeout: Some(Duration::from_secs(600)),
            timeouts: Timeouts::default(),
            retries: RetryPolicy::default(),
            dialect: None,
            compaction: None,
            conversation: None,
            agent: None,
            trace_contents: false,
            parameters: Map::new(),
        }
    }
}

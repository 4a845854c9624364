//! What is printed. The comments become the descriptions of the schema in `docs/chat-json.schema.json`.

use insomnia_tasks::{task::Task, wire::Usage};
use serde::Serialize;
use serde_json::Value;

use crate::terminal::write_json;

/// One line on stdout of `chat --output json`. Fields and events may be added.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(title = "An event of chat --output json"))]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Line<'a> {
    /// The first line.
    SessionOpened {
        /// The session's folder, or its address without a password.
        session: String,
        /// How many messages were in it already.
        messages: usize,
        /// What was found damaged and passed over.
        damage: Vec<String>,
        /// The model that is asked.
        model: &'a str,
        /// The server's address, without what may be secret in it.
        base_url: String,
        /// Whether it is the built-in script.
        demo: bool,
    },
    /// A prompt is about to be run.
    TurnStarted {
        /// The prompt.
        prompt: &'a str,
    },
    /// A request leaves.
    RequestStarted {
        /// Its number in the turn, from 1.
        request: u64,
    },
    /// A piece of the answer, as it comes; with `--no-stream` all of it.
    TextDelta {
        /// The piece.
        text: &'a str,
    },
    /// A piece of the model's reasoning, as it comes.
    ReasoningDelta {
        /// The piece.
        text: &'a str,
    },
    /// What a request cost, where the server tells it.
    Usage {
        /// Counts of tokens; null where the server does not say.
        #[cfg_attr(test, schemars(with = "super::tests::UsageShape"))]
        usage: &'a Usage,
    },
    /// An answer is complete and kept.
    RequestFinished {
        /// The request's number in the turn, from 1.
        request: u64,
        /// Why the model stopped, in the server's words.
        finish_reason: Option<&'a str>,
    },
    /// A tool begins.
    ToolStarted {
        /// The call's id.
        id: &'a str,
        /// The tool's name.
        name: &'a str,
        /// Its arguments as JSON text, as the model wrote them.
        arguments: &'a str,
    },
    /// A tool has ended.
    ToolFinished {
        /// The call's id.
        id: &'a str,
        /// The tool's name.
        name: &'a str,
        /// Whether it succeeded.
        ok: bool,
        /// What the model sees of it.
        result: &'a str,
    },
    /// A task was created or changed.
    Task {
        /// The task as it is now.
        #[cfg_attr(test, schemars(with = "super::tests::TaskShape"))]
        task: &'a Task,
    },
    /// Whether a reminder goes with the next request.
    Reminder {
        /// Whether it does.
        fired: bool,
        /// About how many tokens it adds, if it does.
        tokens: Option<usize>,
        /// Why it does not.
        reason: Option<Reason>,
        /// How many requests ago it was what the reason tells of.
        requests_ago: Option<u64>,
    },
    /// A request failed and is tried again.
    Retrying {
        /// Milliseconds from now.
        #[cfg_attr(test, schemars(with = "u64"))]
        wait_ms: u128,
        /// What went wrong, for people.
        error: &'a str,
        /// Whether the text shown since the request started is void.
        void: bool,
    },
    /// The server refused the form of the request and gets another one.
    DialectChanged {
        /// The new form.
        dialect: Value,
    },
    /// A summary is sent in place of older messages from now on.
    Compacted {
        /// How many messages are not sent as they were any more.
        replaced: usize,
        /// The model's summary.
        summary: &'a str,
    },
    /// The turn ended with an answer.
    TurnFinished {
        /// The last answer's text.
        text: &'a str,
        /// How many requests of the turn were answered.
        requests: u64,
    },
    /// The turn ended without an answer.
    TurnFailed {
        /// What kind of failure it was.
        kind: Kind,
        /// What went wrong, for people.
        error: String,
        /// The status of HTTP, where there was one.
        status: Option<u16>,
    },
    /// Ctrl-C, or a signal to end, cancelled the turn.
    TurnCancelled {},
}

/// Why no reminder goes with a request.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum Reason {
    NoActiveTask,
    ToolsNotOffered,
    Paused,
    UsedRecently,
    CoolingDown,
    Other,
}

/// Why a turn failed.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Auth,
    RateLimited,
    ContextLength,
    InvalidRequest,
    ModelNotFound,
    Billing,
    Server,
    Malformed,
    Interrupted,
    Timeout,
    Connect,
    Storage,
    RequestLimit,
    Other,
}

impl Line<'_> {
    pub(super) fn print(&self) {
        if let Ok(json) = serde_json::to_string(self) {
            write_json(&json);
        }
    }
}

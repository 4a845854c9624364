//! The trait through which plugins take part in the loop.

use std::fmt;

use async_trait::async_trait;

use crate::{
    Item, ToolCall,
    tool::{ToolError, ToolOutput},
    worker::{Event, History, TurnEnd},
};

/// A plugin of the [`Worker`](crate::worker::Worker)'s loop. Several run in the order in which they were added.
///
/// Every method has a default that does nothing. A turn may be dropped at any await: keep what must not be lost out of
/// futures, or change it in [`on_commit`](Self::on_commit), which runs in one piece with the commit.
///
/// ```
/// use async_trait::async_trait;
/// use insomnia_tasks::{Item, interceptor::{Interceptor, RequestContext}};
///
/// struct Checkpoint;
///
/// #[async_trait]
/// impl Interceptor for Checkpoint {
///     async fn pending_history_appends(&self, request: &RequestContext<'_>) -> Vec<Item> {
///         let due = request.number() % 50 == 0;
///         due.then(|| Item::notification("50 more requests: commit what works.")).into_iter().collect()
///     }
/// }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no plugin of the loop",
    note = "implement `Interceptor` for it, under `#[async_trait]`"
)]
pub trait Interceptor: Send + Sync + 'static {
    /// The items to commit before the next request. They stand at the tail of the history, behind every tool result and a
    /// fresh user message, and go with this very request.
    async fn pending_history_appends(&self, request: &RequestContext<'_>) -> Vec<Item> {
        let _ = request;
        Vec::new()
    }

    /// A look at each item as it is committed, assistant messages above all. Called for every item of the session, in order; in
    /// a resumed one that was compacted, for those from the kept turns on.
    fn on_commit(&self, item: &Item) {
        let _ = item;
    }

    /// Before a tool runs, once it is known that there is such a tool and its arguments are an object. The first
    /// interceptor that denies decides, and its reason is the result that the model sees.
    async fn pre_tool_call(&self, call: &ToolCall) -> ToolGate {
        let _ = call;
        ToolGate::Continue
    }

    /// After a tool has run. Its result is kept already: it stands in the history as soon as those of the calls before it do.
    async fn post_tool_call(&self, call: &ToolCall, result: Result<&ToolOutput, &ToolError>) {
        let _ = (call, result);
    }

    /// After a turn, however it ended. A turn that was dropped is told at the start of the next one.
    async fn on_turn_end(&self, end: &TurnEnd) {
        let _ = end;
    }
}

/// Whether a tool call may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolGate {
    /// It may.
    Continue,
    /// It may not; the model sees this reason as the call's result.
    Deny(String),
}

/// What an interceptor can know of the request that is about to be sent.
pub struct RequestContext<'a> {
    pub(crate) number: u64,
    pub(crate) turn: u64,
    pub(crate) offered: &'a (dyn Fn(&str) -> bool + Sync),
    pub(crate) history: &'a History,
    pub(crate) emit: &'a (dyn Fn(Event) + Send + Sync),
}

impl RequestContext<'_> {
    /// Which request of its turn this is, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Which turn of the session this is, from 1.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// Whether the request offers this tool to the model.
    pub fn offers(&self, tool: &str) -> bool {
        (self.offered)(tool)
    }

    /// The history so far.
    pub fn history(&self) -> &History {
        self.history
    }

    /// Tells the turn's listener.
    pub fn emit(&self, event: Event) {
        (self.emit)(event);
    }
}

impl fmt::Debug for RequestContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, turn, history, .. } = self;
        let mut context = f.debug_struct("RequestContext");
        context.field("number", number).field("turn", turn).field("history", history).finish_non_exhaustive()
    }
}

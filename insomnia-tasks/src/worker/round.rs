use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{FutureExt, StreamExt, stream};
use tracing::Instrument;

use super::{Event, log::Log, spans};
use crate::{
    Item, ToolCall,
    interceptor::{Interceptor, ToolGate},
    tool::{ToolError, ToolOutput, ToolSet},
};

/// A call of the model as the loop runs it: with the id that its result carries, and arguments that are an object or a reason
/// why they are none.
pub(super) struct RoundCall {
    pub(super) call: ToolCall,
    pub(super) unreadable: Option<String>,
}

/// How the calls of a round are run.
pub(super) struct RoundSettings<'a> {
    pub(super) tools: &'a ToolSet,
    pub(super) emit: &'a (dyn Fn(Event) + Send + Sync),
    pub(super) concurrency: usize,
    pub(super) timeout: Option<Duration>,
    pub(super) trace_contents: bool,
}

/// Runs the calls of one answer and commits their results.
///
/// Ordered tools run first, one after another; the others side by side. Results are committed in call order, each as soon as
/// those before it are there.
pub(super) async fn run_round(log: &mut Log, calls: &[RoundCall], settings: &RoundSettings<'_>) {
    let interceptors = log.interceptors.clone();
    let results = Results::new(log, calls);
    let run = |index: usize| {
        let (results, interceptors) = (&results, &interceptors);
        async move {
            let Some(call) = calls.get(index) else { return };
            let definition = settings.tools.definitions().iter().find(|tool| tool.name() == call.call.name);
            let span = spans::tool(&call.call, definition, settings.trace_contents);
            let (ran, outcome) = run_call(call, interceptors, settings).instrument(span.clone()).await;
            spans::tool_ended(&span, &outcome, settings.trace_contents);
            let text =
                outcome.as_ref().map_or_else(|error| format!("error: {error}"), |output| output.text().to_owned());
            (settings.emit)(Event::ToolFinished {
                id: call.call.id.clone(),
                name: call.call.name.clone(),
                ok: outcome.is_ok(),
                result: text.clone(),
            });
            results.finish(index, text);
            if ran {
                for interceptor in interceptors {
                    interceptor.post_tool_call(&call.call, outcome.as_ref()).await;
                }
            }
        }
    };
    let (ordered, others): (Vec<_>, Vec<_>) =
        (0..calls.len()).partition(|&index| settings.tools.is_ordered(&calls[index].call.name));
    for index in ordered {
        run(index).await;
    }
    stream::iter(others).map(run).buffer_unordered(settings.concurrency.max(1)).collect::<()>().await;
}

/// Whether the tool itself ran, and what came of it.
async fn run_call(
    RoundCall { call, unreadable }: &RoundCall,
    interceptors: &[std::sync::Arc<dyn Interceptor>],
    settings: &RoundSettings<'_>,
) -> (bool, Result<ToolOutput, ToolError>) {
    (settings.emit)(Event::ToolStarted {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    });
    if let Some(reason) = unreadable {
        return (false, Err(ToolError::new(reason.clone())));
    }
    if !settings.tools.contains(&call.name) {
        return (false, Err(ToolError::new(settings.tools.unknown_tool_message(&call.name))));
    }
    for interceptor in interceptors {
        if let ToolGate::Deny(reason) = interceptor.pre_tool_call(call).await {
            return (false, Err(ToolError::new(format!("denied: {reason}"))));
        }
    }
    let work = Contained::new(async {
        match settings.tools.call(&call.name, &call.arguments) {
            Some(running) => running.await,
            None => Err(ToolError::new(settings.tools.unknown_tool_message(&call.name))),
        }
    });
    let work = AssertUnwindSafe(work).catch_unwind();
    let outcome = match settings.timeout {
        Some(limit) => match tokio::time::timeout(limit, work).await {
            Ok(outcome) => outcome,
            Err(_) => {
                return (true, Err(ToolError::new(format!("the tool did not end within {limit:?} and was stopped"))));
            }
        },
        None => work.await,
    };
    (true, outcome.unwrap_or_else(|panic| Err(panicked(panic.as_ref()))))
}

fn panicked(panic: &(dyn Any + Send)) -> ToolError {
    let message = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ToolError::new(format!("the tool failed inside: {}", message.unwrap_or("no message")))
}

/// The work of a tool, from which no panic gets out when it is dropped half way, at its timeout or with the turn.
struct Contained<F>(Option<Pin<Box<F>>>);

impl<F> Contained<F> {
    fn new(work: F) -> Self {
        Self(Some(Box::pin(work)))
    }
}

impl<F: Future> Future for Contained<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // taken only by the drop
        self.0.as_mut().map_or(Poll::Pending, |work| work.as_mut().poll(context))
    }
}

impl<F> Drop for Contained<F> {
    fn drop(&mut self) {
        let work = self.0.take();
        // the call has its result already, or is answered as interrupted
        _ = catch_unwind(AssertUnwindSafe(|| drop(work)));
    }
}

/// The results of a round. When the round is dropped half way, the results that are there are committed all the same: what a
/// tool has done is then in the history. The rest stays open and is answered as interrupted in what is sent next.
struct Results<'a> {
    // a std mutex: held for a commit and never across an await
    inner: Mutex<Inner<'a>>,
}

struct Inner<'a> {
    log: &'a mut Log,
    calls: &'a [RoundCall],
    texts: Vec<Option<String>>,
    committed: usize,
}

impl<'a> Results<'a> {
    fn new(log: &'a mut Log, calls: &'a [RoundCall]) -> Self {
        Self { inner: Mutex::new(Inner { log, calls, texts: vec![None; calls.len()], committed: 0 }) }
    }

    fn finish(&self, index: usize, text: String) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = inner.texts.get_mut(index) {
            *place = Some(text);
        }
        while inner.commit_next(false) {}
    }
}

impl Inner<'_> {
    /// Commits the next result, past calls without one only if they may be left open; false when there is none.
    fn commit_next(&mut self, leave_open: bool) -> bool {
        while let (Some(text), Some(RoundCall { call, .. })) =
            (self.texts.get_mut(self.committed), self.calls.get(self.committed))
        {
            match text.take() {
                Some(text) => {
                    self.committed += 1;
                    self.log.commit(Item::tool_message(&call.id, text));
                    return true;
                }
                None if leave_open => self.committed += 1,
                None => return false,
            }
        }
        false
    }
}

impl Drop for Results<'_> {
    fn drop(&mut self) {
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        while inner.commit_next(true) {}
    }
}

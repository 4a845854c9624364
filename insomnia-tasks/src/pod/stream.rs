use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use futures_util::Stream;

use super::Pod;
use crate::{
    Item,
    worker::{Event, Turn, TurnError},
};

/// A turn as a stream: its events as they come, and its outcome as the last element. Dropping it cancels the turn.
///
/// ```no_run
/// # async fn example(pod: insomnia_tasks::Pod) {
/// use futures_util::StreamExt;
/// use insomnia_tasks::{pod::TurnStep, worker::Event};
///
/// let mut turn = pod.stream("Go on.");
/// while let Some(step) = turn.next().await {
///     match step {
///         TurnStep::Event(Event::TextDelta(text)) => print!("{text}"),
///         TurnStep::Event(_) => {}
///         TurnStep::Done(outcome) => println!("{outcome:?}"),
///     }
/// }
/// # }
/// ```
pub struct TurnStream<'a> {
    turn: Option<RunningTurn<'a>>,
    // a std mutex: held for one push or pop and never across an await
    events: Arc<Mutex<VecDeque<Event>>>,
    outcome: Option<Result<Turn, TurnError>>,
}

type RunningTurn<'a> = Pin<Box<dyn Future<Output = Result<Turn, TurnError>> + Send + 'a>>;

/// One element of a [`TurnStream`].
#[derive(Debug)]
pub enum TurnStep {
    /// Something happened.
    Event(Event),
    /// The turn has ended; nothing follows.
    Done(Result<Turn, TurnError>),
}

impl<'a> TurnStream<'a> {
    pub(super) fn new(pod: &'a Pod, prompt: Item) -> Self {
        let events = Arc::new(Mutex::new(VecDeque::new()));
        let queue = Arc::clone(&events);
        let turn = Box::pin(async move {
            let listener = move |event| queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(event);
            pod.run_with(prompt, listener).await
        });
        Self { turn: Some(turn), events, outcome: None }
    }
}

impl Stream for TurnStream<'_> {
    type Item = TurnStep;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<TurnStep>> {
        if let Some(event) = self.next_event() {
            return Poll::Ready(Some(TurnStep::Event(event)));
        }
        if let Some(turn) = &mut self.turn
            && let Poll::Ready(outcome) = turn.as_mut().poll(context)
        {
            self.turn = None;
            self.outcome = Some(outcome);
        }
        if let Some(event) = self.next_event() {
            return Poll::Ready(Some(TurnStep::Event(event)));
        }
        match self.outcome.take() {
            Some(outcome) => Poll::Ready(Some(TurnStep::Done(outcome))),
            None if self.turn.is_none() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

impl TurnStream<'_> {
    fn next_event(&self) -> Option<Event> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl std::fmt::Debug for TurnStream<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnStream").field("ended", &self.turn.is_none()).finish_non_exhaustive()
    }
}

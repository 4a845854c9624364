use std::fmt;

use async_openai::{Client, config::Config};
use serde_json::{Value, value::RawValue};
use tracing::Instrument;

use super::{
    Event, History, Resumed, Turn, TurnEnd, TurnError, WorkerBuilder, WorkerSettings,
    log::Log,
    round::{RoundCall, RoundSettings, run_round},
    spans::{self, Spent},
    transport::Transport,
};
use crate::{
    Item,
    interceptor::RequestContext,
    tool::ToolSet,
    wire::{Answer, LateSystem},
};

/// The chat-completion loop. Owns the history; knows tools and interceptors, not tasks.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use async_openai::Client;
/// use insomnia_tasks::worker::Worker;
///
/// let mut worker = Worker::builder(&Client::new(), "gpt-5-mini").instructions("Be brief.").build()?;
/// let turn = worker.run("What is a durable reminder?", &|_| {}).await?;
/// println!("{}", turn.text);
/// # Ok(()) }
/// ```
pub struct Worker {
    pub(super) log: Log,
    pub(super) transport: Transport,
    pub(super) model: String,
    pub(super) tools: ToolSet,
    pub(super) settings: WorkerSettings,
    /// Further fields of every request.
    pub(super) parameters: Vec<(String, Box<RawValue>)>,
    /// Whether the dialect may change after a refusal.
    pub(super) adapts: bool,
    /// The form of late system messages that the user has chosen; it never changes.
    pub(super) placement: Option<LateSystem>,
    /// Whether a turn began that did not end: it was dropped.
    unfinished: bool,
    /// The turn in which the loop last compacted by itself, or tried to.
    pub(super) compacted_in: Option<u64>,
    /// What the turn's requests have cost, those for summaries among them.
    pub(super) spent: Spent,
}

impl Worker {
    /// A builder for a worker that calls this model at the server of this client. Of the client its
    /// configuration counts: address, key, headers, query. What else it was given, such as an HTTP client, goes to the builder.
    pub fn builder<C: Config + Clone + 'static>(client: &Client<C>, model: impl Into<String>) -> WorkerBuilder {
        WorkerBuilder::new(client, model)
    }

    pub(super) fn new(log: Log, transport: Transport, model: String, tools: ToolSet, settings: WorkerSettings) -> Self {
        let raw = |value: &Value| RawValue::from_string(value.to_string()).ok();
        let parameters =
            settings.parameters.iter().filter_map(|(key, value)| Some((key.clone(), raw(value)?))).collect();
        Self {
            log,
            transport,
            model,
            tools,
            adapts: settings.dialect.is_none(),
            settings,
            placement: None,
            parameters,
            unfinished: false,
            compacted_in: None,
            spent: Spent::default(),
        }
    }

    /// The same worker with a form of late system messages that never changes.
    pub(super) fn placed(mut self, placement: Option<LateSystem>) -> Self {
        self.placement = placement;
        self
    }

    /// A handle to the history, which can be read while a turn runs.
    pub fn history(&self) -> History {
        self.log.history.clone()
    }

    /// Goes on from another history, which the journal knows of.
    pub(crate) fn replace_history(&mut self, resumed: Resumed) {
        self.log.replace(resumed);
    }

    /// Commits an item outside of a turn.
    pub(crate) fn commit(&mut self, item: Item) {
        self.log.commit(item);
    }

    /// Runs one turn: from this prompt to the answer that asks for no tool. `listener` is told what happens meanwhile.
    ///
    /// Dropping the future cancels the turn at once; the next one goes on from what was committed.
    ///
    /// # Errors
    /// If a model call fails, the journal cannot be written, or the limit of requests is reached.
    pub async fn run(
        &mut self,
        prompt: impl Into<Item>,
        listener: &(dyn Fn(Event) + Send + Sync),
    ) -> Result<Turn, TurnError> {
        if self.unfinished {
            self.tell_end(&TurnEnd::Cancelled).await;
        }
        self.unfinished = true;
        self.log.turn += 1;
        self.spent = Spent::default();
        let prompt = prompt.into();
        let span = spans::turn(self, &prompt);
        self.log.commit(prompt);
        let outcome = self.converse(listener).instrument(span.clone()).await;
        spans::turn_ended(&span, &self.spent, &outcome, self.settings.trace_contents);
        let end = outcome.as_ref().map_or_else(|error| TurnEnd::Failed(error.to_string()), |_| TurnEnd::Answered);
        self.tell_end(&end).await;
        self.unfinished = false;
        if let Ok(turn) = &outcome {
            listener(Event::TurnFinished { requests: turn.requests });
        }
        outcome
    }

    /// Makes durable what is committed. A turn does so by itself; after one that was dropped, the results of its last tools may
    /// still wait for the next turn or for this.
    ///
    /// # Errors
    /// If the journal cannot be written; a later flush tries again.
    pub async fn flush(&self) -> Result<(), TurnError> {
        self.log.flush().await
    }

    async fn converse(&mut self, listener: &(dyn Fn(Event) + Send + Sync)) -> Result<Turn, TurnError> {
        for number in 1..=self.settings.max_requests {
            self.append_pending(number, listener).await;
            self.log.flush().await?;
            listener(Event::RequestStarted { number });
            let answer = match self.ask(listener).await {
                Err(error) if self.compact_after(&error, listener).await => {
                    self.log.flush().await?;
                    self.ask(listener).await?
                }
                other => other?,
            };
            self.log.commit_answer(answer.message.clone(), answer.usage);
            if let Some(usage) = answer.usage {
                listener(Event::Usage(usage));
            }
            listener(Event::RequestFinished { number, finish_reason: answer.finish_reason.clone() });
            // after the last answer this makes it durable, before tools run it keeps what the model asked for
            self.log.flush().await?;
            let calls = self.round_calls(&answer);
            if calls.is_empty() {
                self.compact_if_full(answer.usage, false, listener).await;
                self.log.flush().await?;
                let text = answer.message.text().unwrap_or_default();
                return Ok(Turn { text, requests: number, usage: answer.usage, finish_reason: answer.finish_reason });
            }
            let settings = RoundSettings {
                tools: &self.tools,
                emit: listener,
                concurrency: self.settings.tool_concurrency,
                timeout: self.settings.tool_timeout,
                trace_contents: self.settings.trace_contents,
            };
            run_round(&mut self.log, &calls, &settings).await;
            self.compact_if_full(answer.usage, true, listener).await;
        }
        // the results of the last round
        self.log.flush().await?;
        Err(TurnError::RequestLimit { limit: self.settings.max_requests })
    }

    async fn append_pending(&mut self, number: u64, listener: &(dyn Fn(Event) + Send + Sync)) {
        for interceptor in self.log.interceptors.clone() {
            let request = RequestContext {
                number,
                turn: self.log.turn,
                offered: &|tool| self.tools.contains(tool),
                history: &self.log.history,
                emit: listener,
            };
            let items = interceptor.pending_history_appends(&request).await;
            items.into_iter().for_each(|item| self.log.commit(item));
        }
    }

    /// The answer's calls under the ids that their results carry.
    fn round_calls(&self, answer: &Answer) -> Vec<RoundCall> {
        let open = self.log.open_calls().into_iter();
        let read = answer.calls.iter();
        open.zip(read)
            .map(|(mut call, read)| {
                call.name.clone_from(&read.name);
                let unreadable = match &read.arguments {
                    Ok(arguments) => {
                        call.arguments = arguments.clone();
                        None
                    }
                    Err(error) => Some(error.to_string()),
                };
                RoundCall { call, unreadable }
            })
            .collect()
    }

    async fn tell_end(&self, end: &TurnEnd) {
        for interceptor in &self.log.interceptors {
            interceptor.on_turn_end(end).await;
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("model", &self.model).field("history", &self.log.history).finish_non_exhaustive()
    }
}

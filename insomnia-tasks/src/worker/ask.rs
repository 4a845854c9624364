use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};
use tracing::Instrument;

use super::{Event, LearnedDialect, TurnError, Worker, spans, transport::too_slow};
use crate::{
    tool::ToolDefinition,
    wire::{Answer, Delta, Dialect, ErrorDetail, ModelError, RequestBody},
};

/// How often the form of one request is changed after a refusal, at most: no choice of a dialect is made twice.
const MAX_ADAPTATIONS: u32 = 10;

type Listener<'a> = &'a (dyn Fn(Event) + Send + Sync);

/// What a listener was told of one answer.
#[derive(Default)]
pub(super) struct Told {
    text: bool,
    reasoning: bool,
    /// When the first piece of a streamed answer came, from the request on.
    first: Option<Duration>,
}

impl Worker {
    /// Asks the model, again where that can help. Nothing is committed here but a change of dialect.
    pub(super) async fn ask(&mut self, listener: Listener<'_>) -> Result<Answer, TurnError> {
        let (mut failed, mut adapted) = (0, 0);
        loop {
            let mut told = Told::default();
            let span = spans::chat(self);
            let outcome = self.attempt(listener, &mut told).instrument(span.clone()).await;
            spans::answered(&span, &outcome, told.first, self.settings.trace_contents);
            let error = match outcome {
                Ok(answer) => {
                    self.spent.add(answer.usage);
                    return Ok(answer);
                }
                Err(error) => self.transport.without_key(error),
            };
            if !told.text && adapted < MAX_ADAPTATIONS && self.adapt(&error, listener) {
                adapted += 1;
                self.log.flush().await?;
                continue;
            }
            failed += 1;
            let Some(wait) = self.settings.retries.wait(failed, &error, told.text, rand::random()) else {
                let sent = self.parameters.iter().map(|(name, _)| name.as_str());
                return Err(error.with_parameter_of(sent).into());
            };
            tracing::debug!(?wait, kind = ?error.kind(), status = error.status().map(i64::from), "the model call is tried again");
            listener(Event::Retrying { wait, error: error.to_string(), void: told.text || told.reasoning });
            sleep(wait).await;
            self.log.renew().await?;
        }
    }

    /// Changes the dialect after a refusal that another form avoids; whether the request is now another one.
    fn adapt(&mut self, error: &ModelError, listener: Listener<'_>) -> bool {
        let Some(refusal) = error.detail() else { return false };
        let Some(dialect) = self.other_form(refusal) else { return false };
        let learned = LearnedDialect::new(self.transport.base_url(), &self.model, dialect);
        if !self.log.speak(&learned) {
            return false;
        }
        tracing::info!(?refusal, dialect = ?learned.dialect, "the server refused the form of the request and gets another one");
        listener(Event::DialectChanged(learned.dialect));
        true
    }

    /// The dialect that avoids a refusal, as far as the user has left the choice to this crate.
    fn other_form(&self, refusal: ErrorDetail) -> Option<Dialect> {
        if !self.adapts {
            return None;
        }
        let next = self.log.projection().dialect().after_refusal(refusal)?;
        match (refusal, self.placement) {
            (ErrorDetail::StreamOptions, _) if !self.asks_for_usage() || self.settings.stream_usage.is_some() => None,
            (_, Some(placement)) => Some(next.with_late_system(placement)),
            (_, None) => Some(next),
        }
    }

    fn asks_for_usage(&self) -> bool {
        let asked = self.settings.stream_usage.unwrap_or(self.log.projection().dialect().stream_usage);
        self.settings.stream && asked
    }

    async fn attempt(&self, listener: Listener<'_>, told: &mut Told) -> Result<Answer, ModelError> {
        let call = self.call(listener, told);
        match self.settings.timeouts.total {
            Some(limit) => timeout(limit, call).await.unwrap_or_else(|_| Err(too_slow("no whole answer", limit))),
            None => call.await,
        }
    }

    async fn call(&self, listener: Listener<'_>, told: &mut Told) -> Result<Answer, ModelError> {
        let begun = Instant::now();
        let response = self.transport.send(self.body(), &self.settings.timeouts).await?;
        let names: Vec<_> = self.tools.names().collect();
        let answer = match response.is_success() && self.settings.stream {
            true => {
                let mut tell = |delta| {
                    told.first.get_or_insert_with(|| begun.elapsed());
                    show(delta, listener, told);
                };
                response.read_stream(&names, &mut tell).await?
            }
            false => response.read_whole(&names).await?,
        };
        if !told.text
            && let Some(text) = answer.message.text().filter(|text| !text.is_empty())
        {
            listener(Event::TextDelta(text));
        }
        Ok(answer)
    }

    fn body(&self) -> Vec<u8> {
        let projection = self.log.projection();
        let messages = projection.messages();
        let dialect = projection.dialect();
        let form = match (dialect.strict_schemas, dialect.allow_null) {
            (true, _) => ToolDefinition::strict,
            (false, true) => ToolDefinition::allow_null,
            (false, false) => ToolDefinition::raw,
        };
        let tools: Vec<_> = self.tools.definitions().iter().map(form).collect();
        let body = RequestBody {
            model: &self.model,
            messages: &messages,
            tools: &tools,
            stream: self.settings.stream,
            include_usage: self.asks_for_usage(),
            extra: &self.parameters,
        };
        body.to_bytes()
    }
}

fn show(delta: Delta, listener: Listener<'_>, told: &mut Told) {
    match delta {
        Delta::Text(text) => {
            told.text = true;
            listener(Event::TextDelta(text));
        }
        Delta::Reasoning(text) => {
            told.reasoning = true;
            listener(Event::ReasoningDelta(text));
        }
        _ => {}
    }
}

use std::time::{Duration, Instant, SystemTime};

use tokio::time::{sleep, timeout};

use super::{Event, TurnError, Worker};
use crate::{
    tool::ToolDefinition,
    wire::{
        Answer, Delta, ErrorDetail, ModelError, ModelErrorKind, Progress, ReplyHead, RequestBody, StreamReader,
        classify, read_reply,
    },
};

/// How long a complete answer waits for the count of its tokens.
const USAGE_GRACE: Duration = Duration::from_secs(2);

/// The most that is read of an error's body.
const ERROR_BODY: usize = 1024 * 1024;

type Listener<'a> = &'a (dyn Fn(Event) + Send + Sync);

impl Worker {
    /// Asks the model, again where that can help. Nothing is committed here but a change of dialect.
    pub(super) async fn ask(&mut self, listener: Listener<'_>) -> Result<Answer, TurnError> {
        let mut failed = 0;
        loop {
            let mut shown = false;
            let error = match self.attempt(listener, &mut shown).await {
                Ok(answer) => return Ok(answer),
                Err(error) => self.transport.without_key(error),
            };
            if !shown && self.adapt(&error, listener) {
                self.log.flush().await?;
                continue;
            }
            failed += 1;
            let Some(wait) = self.settings.retries.wait(failed, &error, shown, fastrand::f64()) else {
                return Err(error.into());
            };
            tracing::debug!(?wait, error = %error, "the model call is tried again");
            listener(Event::Retrying { wait, error: error.to_string() });
            sleep(wait).await;
        }
    }

    /// Changes the dialect after a refusal that another form avoids; whether the request is now another one.
    fn adapt(&mut self, error: &ModelError, listener: Listener<'_>) -> bool {
        let adapted = match error.detail() {
            Some(detail @ (ErrorDetail::Placement(_) | ErrorDetail::NullContent)) if self.adapts => {
                self.log.projection().dialect().after_refusal(detail)
            }
            _ => None,
        };
        let Some(dialect) = adapted.filter(|dialect| self.log.speak(dialect)) else { return false };
        tracing::info!(?dialect, "the server refused the form of the request and gets another one");
        listener(Event::DialectChanged(dialect));
        true
    }

    async fn attempt(&self, listener: Listener<'_>, shown: &mut bool) -> Result<Answer, ModelError> {
        let call = self.call(listener, shown);
        match self.settings.timeouts.total {
            Some(limit) => timeout(limit, call).await.unwrap_or_else(|_| Err(too_slow("no whole answer", limit))),
            None => call.await,
        }
    }

    async fn call(&self, listener: Listener<'_>, shown: &mut bool) -> Result<Answer, ModelError> {
        let messages = self.log.projection().messages();
        let tools: Vec<_> = self.tools.definitions().iter().map(ToolDefinition::raw).collect();
        let body = RequestBody {
            model: &self.model,
            messages: &messages,
            tools: &tools,
            stream: self.settings.stream,
            include_usage: self.settings.stream && self.settings.stream_usage,
            extra: &self.parameters,
        };
        let limit = self.settings.timeouts.first_byte;
        let sent = timeout(limit, self.transport.send(body.to_bytes())).await;
        let response = sent.map_err(|_| too_slow("no reply", limit))??;
        let names: Vec<_> = self.tools.names().collect();
        let answer = match response.status().is_success() && self.settings.stream {
            true => self.read_stream(response, &names, listener, shown).await?,
            false => self.read_whole(response, &names).await?,
        };
        if !std::mem::replace(shown, true)
            && let Some(text) = answer.message.text().filter(|text| !text.is_empty())
        {
            listener(Event::TextDelta(text));
        }
        Ok(answer)
    }

    async fn read_stream(
        &self,
        mut response: reqwest::Response,
        tools: &[&str],
        listener: Listener<'_>,
        shown: &mut bool,
    ) -> Result<Answer, ModelError> {
        let idle = self.settings.timeouts.idle;
        let mut reader = StreamReader::new(tools);
        let (mut activity, mut since) = (0, Instant::now());
        let failure = loop {
            let limit = match reader.progress() {
                Progress::Open => idle.saturating_sub(since.elapsed()),
                Progress::Finished => USAGE_GRACE,
                Progress::Done => break None,
            };
            match timeout(limit, response.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    for delta in reader.push(&bytes) {
                        *shown |= matches!(delta, Delta::Text(_));
                        show(delta, listener);
                    }
                    // keep-alive comments do not count
                    if reader.activity() != activity {
                        (activity, since) = (reader.activity(), Instant::now());
                    }
                }
                Ok(Ok(None)) => break None,
                Ok(Err(error)) => break Some(error.without_url()),
                Err(_) if reader.is_complete() => break None,
                Err(_) => return Err(too_slow("no data", idle).with_partial_text(reader.text())),
            }
        };
        let answer = reader.finish();
        match failure {
            Some(failure) => answer.map_err(|error| error.with_source(failure)),
            None => answer,
        }
    }

    async fn read_whole(&self, mut response: reqwest::Response, tools: &[&str]) -> Result<Answer, ModelError> {
        let idle = self.settings.timeouts.idle;
        let status = response.status();
        let headers = response.headers().clone();
        let headers: Vec<_> =
            headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
        let head = ReplyHead::new(status.as_u16()).with_headers(&headers).with_now(SystemTime::now());
        let most = if status.is_success() { StreamReader::MAX_BYTES } else { ERROR_BODY };
        let mut body = Vec::new();
        loop {
            match timeout(idle, response.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None)) => break,
                // what an error says is worth reading even if its end is missing
                _ if !status.is_success() => break,
                Ok(Err(error)) => {
                    let cut = ModelError::new(ModelErrorKind::Interrupted, "the reply ended before its end");
                    return Err(cut.with_source(error.without_url()));
                }
                Err(_) => return Err(too_slow("no data", idle)),
            }
            if body.len() > most {
                if !status.is_success() {
                    break;
                }
                let message = format!("the reply is larger than {most} bytes");
                return Err(ModelError::new(ModelErrorKind::Malformed, message));
            }
        }
        match status.is_success() {
            true => read_reply(&head, &body, tools),
            false => Err(classify(&head, &body)),
        }
    }
}

fn show(delta: Delta, listener: Listener<'_>) {
    match delta {
        Delta::Text(text) => listener(Event::TextDelta(text)),
        Delta::Reasoning(text) => listener(Event::ReasoningDelta(text)),
        _ => {}
    }
}

fn too_slow(what: &str, limit: Duration) -> ModelError {
    ModelError::new(ModelErrorKind::Timeout, format!("{what} within {limit:?}"))
}

use std::time::{Duration, Instant, SystemTime};

use tokio::time::timeout;

use super::{Timeouts, body::Body, transport::too_slow};
use crate::wire::{Answer, Delta, ModelError, ModelErrorKind, Progress, ReplyHead, StreamReader, classify, read_reply};

/// How long a complete answer waits for the count of its tokens, if the idle timeout is not shorter still.
const USAGE_GRACE: Duration = Duration::from_secs(2);

/// How long a stream that has said it is done waits for its end: only then can the next request use the connection.
const END_GRACE: Duration = Duration::from_millis(100);

/// How much is read of what follows the end of a stream.
const END_BYTES: usize = 64 * 1024;

/// The most that is read of an error's body.
const ERROR_BODY: usize = 1024 * 1024;

/// A reply whose head has come.
pub(super) struct Response {
    status: u16,
    body: Body,
    idle: Duration,
    headers: Vec<(String, String)>,
}

impl Response {
    pub(super) fn new(http: reqwest::Response, timeouts: &Timeouts) -> Self {
        let text = |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = http.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        Self { status: http.status().as_u16(), body: Body::new(http), idle: timeouts.idle, headers }
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Reads an event stream, and tells the pieces as they come.
    pub(super) async fn read_stream(
        mut self,
        tools: &[&str],
        tell: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Answer, ModelError> {
        let mut reader = StreamReader::new(tools);
        let (mut activity, mut since) = (0, Instant::now());
        let failure = loop {
            let limit = match reader.progress() {
                Progress::Open => self.idle.saturating_sub(since.elapsed()),
                Progress::Finished => USAGE_GRACE.min(self.idle).saturating_sub(since.elapsed()),
                Progress::Done => {
                    if !reader.has_failed() {
                        self.read_to_the_end().await;
                    }
                    break None;
                }
            };
            match timeout(limit, self.body.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    reader.push(&bytes).into_iter().for_each(&mut *tell);
                    // keep-alive comments do not count
                    if reader.activity() != activity {
                        (activity, since) = (reader.activity(), Instant::now());
                    }
                }
                Ok(Ok(None)) => break None,
                Ok(Err(error)) => break Some(error),
                Err(_) if reader.is_complete() => break None,
                Err(_) => {
                    let error = too_slow("no data", self.idle).with_partial_text(reader.text());
                    return Err(self.kept(error));
                }
            }
        };
        let answer = reader.finish_telling(tell).map_err(|error| self.kept(error));
        match failure {
            Some(failure) => answer.map_err(|error| error.with_source(failure)),
            None => answer,
        }
    }

    /// Passes over what follows the answer, which is hardly ever more than the end. Whoever goes on is hung up on: the next
    /// request makes a new connection then, nothing worse.
    async fn read_to_the_end(&mut self) {
        let end = async {
            let mut room = END_BYTES;
            while let Ok(Some(bytes)) = self.body.chunk().await {
                match room.checked_sub(bytes.len()) {
                    Some(left) => room = left,
                    None => break,
                }
            }
        };
        let _ = timeout(END_GRACE, end).await;
    }

    /// Reads a reply that comes whole: a completion, or an error.
    pub(super) async fn read_whole(mut self, tools: &[&str]) -> Result<Answer, ModelError> {
        let succeeds = self.is_success();
        let most = if succeeds { StreamReader::MAX_BYTES } else { ERROR_BODY };
        let mut body = Vec::new();
        loop {
            match timeout(self.idle, self.body.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None)) => break,
                // what an error says is worth reading even if its end is missing
                _ if !succeeds => break,
                Ok(Err(error)) => {
                    let cut = ModelError::new(ModelErrorKind::Interrupted, "the reply ended before its end");
                    return Err(self.kept(cut.with_body(&body)).with_source(error));
                }
                Err(_) => return Err(self.kept(too_slow("no data", self.idle).with_body(&body))),
            }
            if body.len() > most {
                if !succeeds {
                    break;
                }
                let message = format!("the reply is larger than the limit of {most} bytes");
                return Err(self.kept(ModelError::new(ModelErrorKind::Malformed, message).with_body(&body)));
            }
        }
        let headers = self.headers();
        let head = ReplyHead::new(self.status).with_headers(&headers).with_now(SystemTime::now());
        match succeeds {
            true => read_reply(&head, &body, tools).map_err(|error| self.kept(error)),
            false => Err(classify(&head, &body)),
        }
    }

    /// The error with what stood before the body.
    fn kept(&self, error: ModelError) -> ModelError {
        error.with_headers(&self.headers()).or_status(self.status)
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
}

use std::collections::HashSet;

use super::{
    answer::{Answer, is_cut},
    classify::classify,
    error::ModelError,
    error_kind::ModelErrorKind,
    head::ReplyHead,
    message::{Delta, MessageBuilder},
    reply::{is_filled, read_completion, states_error},
    sse::Event,
    usage::Usage,
};
use crate::json::{Object, documents, elements, readable};

/// How far a stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The answer is on its way.
    Open,
    /// The answer is complete. Only a count of tokens may follow, which is not worth a long wait.
    Finished,
    /// Nothing of interest follows.
    Done,
}

/// What the events have said.
#[derive(Debug)]
pub(super) struct StreamedReply {
    pub(super) message: MessageBuilder,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    id: Option<String>,
    model: Option<String>,
    pub(super) progress: Progress,
    /// Which of several choices is read: the first seen.
    choice: Option<String>,
    error: Option<ModelError>,
    pub(super) data_events: u64,
    /// The start of the stream, for an error about a reply that is none.
    pub(super) head: Vec<u8>,
}

impl StreamedReply {
    pub(super) fn new(tools: HashSet<String>) -> Self {
        Self {
            message: MessageBuilder::new(tools),
            finish_reason: None,
            usage: None,
            id: None,
            model: None,
            progress: Progress::Open,
            choice: None,
            error: None,
            data_events: 0,
            head: Vec::new(),
        }
    }

    /// Reads an event. `whole` says that it was seen to end, so that it must be readable.
    pub(super) fn take(&mut self, event: &Event, max_bytes: usize, whole: bool, shown: &mut Vec<Delta>) {
        let text = readable(&event.data);
        let (found, rest) = documents(&text);
        if !found.is_empty() || is_done(rest) {
            self.data_events += 1;
        }
        for document in found.into_iter().flat_map(as_documents) {
            if self.progress == Progress::Done {
                return;
            }
            if let Err(error) = self.take_chunk(document, event.name == b"error", shown) {
                self.fail(error.with_body(document.as_bytes()));
            } else if self.message.bytes() > max_bytes {
                self.fail(too_large(max_bytes));
            }
        }
        if self.progress == Progress::Done {
            return;
        }
        if is_done(rest) {
            self.progress = Progress::Done;
        } else if whole && rest.trim_start().starts_with('{') {
            let error = ModelError::new(ModelErrorKind::Malformed, "an event of the stream is no JSON");
            self.fail(error.with_body(event.data.as_slice()));
        }
    }

    fn take_chunk(&mut self, document: &str, is_error: bool, shown: &mut Vec<Delta>) -> Result<(), ModelError> {
        let Some(chunk) = Object::parse(document) else { return Ok(()) };
        // what comes after a complete answer cannot undo it
        if self.progress == Progress::Open && (is_error || states_error(&chunk)) {
            return Err(classify(&ReplyHead::new(200), document.as_bytes()));
        }
        self.id = self.id.take().or_else(|| chunk.filled("id"));
        self.model = self.model.take().or_else(|| chunk.filled("model"));
        let choices = chunk.get("choices").map(elements).unwrap_or_default();
        let mut choices = choices.into_iter().filter_map(Object::parse);
        let choice = choices.find(|choice| {
            let index = choice.get("index").unwrap_or("0");
            self.choice.get_or_insert_with(|| index.to_owned()) == index
        });
        if let Some(usage) = Usage::find(&chunk, choice.as_ref()) {
            self.usage = Some(usage);
        }
        let Some(choice) = choice else { return Ok(()) };
        if self.progress == Progress::Open
            && let Some(error) = choice.get("error").filter(|error| is_filled(error))
        {
            return Err(classify(&ReplyHead::new(200), error.as_bytes()));
        }
        // a whole message at the end of a stream repeats what the deltas said
        let message = || choice.object("message").filter(|_| self.message.bytes() == 0);
        if let Some(delta) = choice.object("delta").or_else(message) {
            self.message.take(&delta, shown)?;
        }
        if let Some(reason) = choice.filled("finish_reason").filter(|reason| reason != "null") {
            self.progress = Progress::Finished;
            if self.finish_reason.is_none() || is_cut(Some(&reason)) {
                self.finish_reason = Some(reason);
            }
        }
        Ok(())
    }

    pub(super) fn fail(&mut self, error: ModelError) {
        self.error = Some(error);
        self.progress = Progress::Done;
    }

    pub(super) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    pub(super) fn finish(self) -> Result<Answer, ModelError> {
        if let Some(error) = self.error {
            return Err(error.with_partial_text(self.message.text()));
        }
        if self.progress == Progress::Open {
            let error = match self.data_events == 0 && !self.head.trim_ascii().is_empty() && !is_sse(&self.head) {
                true => {
                    ModelError::new(ModelErrorKind::Malformed, "the reply is no event stream").with_body(&self.head)
                }
                false => ModelError::new(ModelErrorKind::Interrupted, ""),
            };
            return Err(error.with_partial_text(self.message.text()));
        }
        let cut = is_cut(self.finish_reason.as_deref());
        let (message, calls) = self.message.finish(cut)?;
        let Self { finish_reason, usage, id, model, .. } = self;
        Answer { message, calls, finish_reason, usage, id, model }.or_empty()
    }

    /// Reads a reply that is no stream: a completion or an error, or chunks without the framing of events.
    pub(super) fn finish_body(mut self, body: &[u8], max_bytes: usize) -> Result<Answer, ModelError> {
        let text = readable(body);
        let (found, _) = documents(&text);
        let is_chunk = |document: &&str| {
            let choices = Object::parse(document).and_then(|chunk| chunk.get("choices"));
            let first = choices.and_then(|choices| Object::parse(elements(choices).first()?));
            first.is_some_and(|choice| choice.object("delta").is_some())
        };
        match found.first() {
            Some(first) if !is_chunk(first) => {
                read_completion(&ReplyHead::new(200), first).map_err(|error| error.with_body(body))
            }
            _ => {
                let event = Event { data: body.to_vec(), ..Event::default() };
                self.take(&event, max_bytes, false, &mut Vec::new());
                self.finish()
            }
        }
    }
}

/// Errors may come as an array of one.
fn as_documents(document: &str) -> Vec<&str> {
    if document.starts_with('[') { elements(document) } else { vec![document] }
}

fn is_done(text: &str) -> bool {
    text.trim().eq_ignore_ascii_case("[DONE]")
}

/// Whether a stream began with a field or a comment of an event stream.
fn is_sse(head: &[u8]) -> bool {
    let head = readable(head);
    let fields = ["data", "event", "id", "retry", ":"];
    head.lines().any(|line| fields.iter().any(|field| line.starts_with(field)))
}

pub(super) fn too_large(max_bytes: usize) -> ModelError {
    ModelError::new(ModelErrorKind::Malformed, format!("the answer is larger than the limit of {max_bytes} bytes"))
}

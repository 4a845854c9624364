use super::{
    answer::{Answer, is_cut},
    classify::classify,
    error::{ModelError, ModelErrorKind},
    head::ReplyHead,
    json::{Object, documents, elements, readable},
    message::{Delta, MessageBuilder},
    reply::{is_filled, read_completion, states_error},
    sse::{Event, EventReader},
    usage::Usage,
};

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

/// Reads the reply to a request with `stream`, from bytes that may be cut anywhere.
///
/// A server that answers with one JSON body is understood too, but that body shows no deltas.
///
/// ```
/// use insomnia_tasks::wire::{Delta, Progress, StreamReader};
///
/// let mut reader = StreamReader::new(&["TaskList"]);
/// let chunk = br#"data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#;
/// assert_eq!(reader.push(chunk), []);
/// assert_eq!(reader.push(b"\n\n"), [Delta::Text("Hi".into())]);
/// assert_eq!(reader.progress(), Progress::Finished);
/// assert_eq!(reader.finish()?.message.text().as_deref(), Some("Hi"));
/// # Ok::<(), insomnia_tasks::wire::ModelError>(())
/// ```
#[derive(Debug)]
pub struct StreamReader {
    events: EventReader,
    reply: Reply,
    max_bytes: usize,
}

/// What the events have said.
#[derive(Debug)]
struct Reply {
    message: MessageBuilder,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    progress: Progress,
    /// Which of several choices is read: the first seen.
    choice: Option<String>,
    error: Option<ModelError>,
    data_events: u64,
    /// The start of the stream, for an error about a reply that is none.
    head: Vec<u8>,
}

impl StreamReader {
    /// The largest answer that is read, and the largest line of a stream, unless told otherwise: 16 MiB. The memory in
    /// use is bounded by a small multiple of it.
    pub const MAX_BYTES: usize = 16 * 1024 * 1024;

    /// A reader for the reply to a request that offers these tools.
    pub fn new(tools: &[&str]) -> Self {
        let tools = tools.iter().map(|name| (*name).to_owned()).collect();
        let reply = Reply {
            message: MessageBuilder::new(tools),
            finish_reason: None,
            usage: None,
            progress: Progress::Open,
            choice: None,
            error: None,
            data_events: 0,
            head: Vec::new(),
        };
        Self { events: EventReader::new(Self::MAX_BYTES), reply, max_bytes: Self::MAX_BYTES }
    }

    /// The same with another limit in bytes, for a line and for the answer's text, calls and other fields together.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.events = EventReader::new(max_bytes);
        self.max_bytes = max_bytes;
        self
    }

    /// Reads on. Errors are kept for [`finish`](Self::finish); after one, or after `[DONE]`, bytes are passed over.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Delta> {
        const MAX_HEAD: usize = 2 * 1024;
        let mut shown = Vec::new();
        if self.reply.progress == Progress::Done {
            return shown;
        }
        let missing = MAX_HEAD.saturating_sub(self.reply.head.len()).min(bytes.len());
        self.reply.head.extend_from_slice(bytes.get(..missing).unwrap_or_default());
        let Self { events, reply, max_bytes } = self;
        let read = events.push(bytes, &mut |event| reply.take(&event, *max_bytes, true, &mut shown));
        if read.is_err() && reply.progress != Progress::Done {
            reply.fail(too_large(*max_bytes));
        }
        shown
    }

    /// How far the stream has come.
    pub fn progress(&self) -> Progress {
        self.reply.progress
    }

    /// Whether the answer is complete, or has failed for good.
    pub fn is_complete(&self) -> bool {
        self.reply.progress != Progress::Open
    }

    /// A number that grows whenever data has arrived. It stands still while a server only keeps the connection alive
    /// with comments and empty events, so that a timer for idle streams can go by it.
    pub fn activity(&self) -> u64 {
        self.reply.data_events.saturating_add(self.events.body_bytes() as u64)
    }

    /// The text that has arrived.
    pub fn text(&self) -> &str {
        self.reply.message.text()
    }

    /// The answer, at the end of the stream or whenever it [is complete](Self::is_complete).
    ///
    /// # Errors
    /// The error that the server sent in the stream; [`ModelErrorKind::Interrupted`] with the text so far if the stream
    /// ended before the answer; [`ModelErrorKind::Malformed`] if it is no event stream, too large, or empty.
    pub fn finish(self) -> Result<Answer, ModelError> {
        let Self { events, mut reply, max_bytes } = self;
        let mut shown = Vec::new();
        let body = events.finish(&mut |event| {
            if reply.progress != Progress::Done {
                reply.take(&event, max_bytes, false, &mut shown);
            }
        });
        match body {
            Some(body) if reply.progress == Progress::Open => reply.finish_body(&body, max_bytes),
            _ => reply.finish(),
        }
    }
}

impl Reply {
    /// Reads an event. `whole` says that it was seen to end, so that it must be readable.
    fn take(&mut self, event: &Event, max_bytes: usize, whole: bool, shown: &mut Vec<Delta>) {
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

    fn fail(&mut self, error: ModelError) {
        self.error = Some(error);
        self.progress = Progress::Done;
    }

    fn finish(self) -> Result<Answer, ModelError> {
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
        Answer { message, calls, finish_reason: self.finish_reason, usage: self.usage }.or_empty()
    }

    /// Reads a reply that is no stream: a completion or an error, or chunks without the framing of events.
    fn finish_body(mut self, body: &[u8], max_bytes: usize) -> Result<Answer, ModelError> {
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

fn too_large(max_bytes: usize) -> ModelError {
    ModelError::new(ModelErrorKind::Malformed, format!("the answer is larger than the limit of {max_bytes} bytes"))
}

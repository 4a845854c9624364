use super::{
    answer::Answer,
    chunks::{Progress, StreamedReply, too_large},
    error::ModelError,
    message::Delta,
    sse::EventReader,
};

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
    reply: StreamedReply,
    max_bytes: usize,
}

impl StreamReader {
    /// The largest answer that is read, and the largest line of a stream, unless told otherwise: 16 MiB. The memory in
    /// use is bounded by a small multiple of it.
    pub const MAX_BYTES: usize = 16 * 1024 * 1024;

    /// A reader for the reply to a request that offers these tools.
    pub fn new(tools: &[&str]) -> Self {
        let tools = tools.iter().map(|name| (*name).to_owned()).collect();
        Self { events: EventReader::new(Self::MAX_BYTES), reply: StreamedReply::new(tools), max_bytes: Self::MAX_BYTES }
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

    /// Whether [`finish`](Self::finish) returns an error that more bytes cannot undo.
    pub fn has_failed(&self) -> bool {
        self.reply.has_failed()
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
    /// The error that the server sent in the stream; [`Interrupted`](super::ModelErrorKind::Interrupted) with the text
    /// so far if the stream ended before the answer; [`Malformed`](super::ModelErrorKind::Malformed) if it is no event
    /// stream, too large, or empty.
    pub fn finish(self) -> Result<Answer, ModelError> {
        self.finish_telling(&mut |_| {})
    }

    /// Like [`finish`](Self::finish); `tell` gets what the end of the stream still shows, which is the last event where no
    /// blank line follows it.
    ///
    /// # Errors
    /// As for [`finish`](Self::finish).
    pub fn finish_telling(self, tell: &mut dyn FnMut(Delta)) -> Result<Answer, ModelError> {
        let Self { events, mut reply, max_bytes } = self;
        let mut shown = Vec::new();
        let body = events.finish(&mut |event| {
            if reply.progress != Progress::Done {
                reply.take(&event, max_bytes, false, &mut shown);
            }
        });
        shown.into_iter().for_each(tell);
        match body {
            Some(body) if reply.progress == Progress::Open => reply.finish_body(&body, max_bytes),
            _ => reply.finish(),
        }
    }
}

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use super::{
    answer::Answer,
    delivery::{Cut, Delivery, End},
    gate::Gate,
};

/// What the server sends for one request, and how. Made with one of the first five functions and refined with the rest.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content: Content,
    pub(super) delivery: Delivery,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    /// Rendered as the request asks: JSON or an event stream.
    Answer(Answer),
    /// Sent as it is.
    Body(Bytes),
}

impl Reply {
    /// An answer in words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::answer(Answer { text: Some(text.into()), ..Answer::default() })
    }

    /// An answer of tool calls: name and arguments of each. Arguments given as a JSON string are sent as that text,
    /// which need not be JSON; any other value is rendered. Ids are `call_1`, `call_2` and so on, never reused.
    pub fn calls<N: Into<String>>(calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        Self::answer(Answer::default().with_calls(calls))
    }

    /// An answer in words that calls tools too; see [`Reply::calls`].
    pub fn text_and_calls<N: Into<String>>(
        text: impl Into<String>,
        calls: impl IntoIterator<Item = (N, Value)>,
    ) -> Self {
        Self::answer(Answer { text: Some(text.into()), ..Answer::default() }.with_calls(calls))
    }

    /// A JSON body with this status, streaming or not.
    pub fn error(status: u16, body: Value) -> Self {
        Self::raw(status, body.to_string()).header("content-type", "application/json")
    }

    /// Any status and any bytes, without a content type; add one with [`Reply::header`].
    pub fn raw(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, headers: Vec::new(), content: Content::Body(body.into()), delivery: Delivery::default() }
    }

    /// Sets a header; one that is there already is replaced.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
        self.headers.push((name, value.into()));
        self
    }

    /// The token counts to report, in a stream even if the request did not ask for them. Without this they are
    /// estimated at four bytes a token. No effect on raw replies.
    #[must_use]
    pub fn usage(self, prompt_tokens: u32, completion_tokens: u32) -> Self {
        self.map_answer(|answer| answer.usage = Some((prompt_tokens, completion_tokens))).tells_usage()
    }

    /// Tells the token counts in a stream even if the request did not ask for them. No effect on raw replies.
    #[must_use]
    pub fn tells_usage(self) -> Self {
        self.map_answer(|answer| answer.tells_usage = true)
    }

    /// A chain of thought, sent as `reasoning_content` before the text. No effect on raw replies.
    #[must_use]
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        self.map_answer(|answer| answer.reasoning = Some(text.into()))
    }

    /// Another `finish_reason` than `stop` or `tool_calls`. No effect on raw replies.
    #[must_use]
    pub fn finish_reason(self, reason: impl Into<String>) -> Self {
        self.map_answer(|answer| answer.finish_reason = Some(reason.into()))
    }

    /// The size in bytes of the pieces that a stream cuts arguments into: at least 1, and no character is cut; default
    /// 16. No effect on raw replies.
    #[must_use]
    pub fn argument_pieces(self, bytes: usize) -> Self {
        self.map_answer(|answer| answer.argument_piece = bytes.max(1))
    }

    /// Cuts the body into chunks at these byte offsets; those beyond its end are passed over. Every chunk is flushed by
    /// itself. Without this and [`Reply::chunked`] every event of a stream is one chunk, and any other body is one.
    #[must_use]
    pub fn split_at(mut self, offsets: Vec<usize>) -> Self {
        self.delivery.cut = Cut::At(offsets);
        self
    }

    /// Cuts the body into chunks of this many bytes, at least 1; see [`Reply::split_at`].
    #[must_use]
    pub fn chunked(mut self, bytes: usize) -> Self {
        self.delivery.cut = Cut::Every(bytes.max(1));
        self
    }

    /// What comes after the last byte; default is [`End::Close`].
    #[must_use]
    pub fn then(mut self, end: End) -> Self {
        self.delivery.end = end;
        self
    }

    /// Sends nothing, not even the status, until the gate is open.
    #[must_use]
    pub fn hold(mut self, gate: &Gate) -> Self {
        self.delivery.before_reply.push(gate.clone());
        self
    }

    /// Sends chunk `index` (the first is 0) only when the gate is open. The number of chunks as index holds the end.
    #[must_use]
    pub fn hold_chunk(mut self, index: usize, gate: &Gate) -> Self {
        self.delivery.before_chunk.push((index, gate.clone()));
        self
    }

    /// Waits this long between two chunks, for demos; default none. Needs a runtime with time enabled.
    #[must_use]
    pub fn pace(mut self, delay: Duration) -> Self {
        self.delivery.pace = delay;
        self
    }

    fn answer(answer: Answer) -> Self {
        Self { status: 200, headers: Vec::new(), content: Content::Answer(answer), delivery: Delivery::default() }
    }

    fn map_answer(mut self, change: impl FnOnce(&mut Answer)) -> Self {
        if let Content::Answer(answer) = &mut self.content {
            change(answer);
        }
        self
    }
}

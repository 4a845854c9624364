use serde_json::{Map, Value, json};

/// What the model says, before it is rendered.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) text: Option<String>,
    pub(super) reasoning: Option<String>,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Option<(u32, u32)>,
    /// Whether a stream tells the token counts though nobody asked.
    pub(super) tells_usage: bool,
    pub(super) finish_reason: Option<String>,
    pub(super) argument_piece: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: String,
}

/// What the rendering takes from the request and the server.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// The completion's number.
    pub(super) number: usize,
    /// Seconds since 1970.
    pub(super) created: u64,
    /// The model that the request named.
    pub(super) model: String,
    /// The number of the first call's id.
    pub(super) first_call: u64,
    /// Size of the request, for the estimate.
    pub(super) prompt_bytes: usize,
    /// Whether the request asks for token counts in its stream.
    pub(super) include_usage: bool,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            text: None,
            reasoning: None,
            calls: Vec::new(),
            usage: None,
            tells_usage: false,
            finish_reason: None,
            argument_piece: 16,
        }
    }
}

impl Answer {
    pub(super) fn with_calls<N: Into<String>>(mut self, calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        self.calls.extend(calls.into_iter().map(|(name, arguments)| {
            let arguments = match arguments {
                Value::String(text) => text,
                other => other.to_string(),
            };
            Call { name: name.into(), arguments }
        }));
        self
    }

    /// The body of a completion that is not streamed.
    pub(super) fn completion(&self, context: &Context) -> Value {
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), json!(self.text));
        if let Some(reasoning) = &self.reasoning {
            message.insert("reasoning_content".to_owned(), json!(reasoning));
        }
        if !self.calls.is_empty() {
            let calls: Vec<_> = (context.first_call..).zip(&self.calls).map(|(id, call)| call.json(id)).collect();
            message.insert("tool_calls".to_owned(), json!(calls));
        }
        message.insert("refusal".to_owned(), Value::Null);
        json!({
            "id": context.id(),
            "object": "chat.completion",
            "created": context.created,
            "model": context.model,
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": self.reason()}],
            "usage": self.token_counts(context),
        })
    }

    /// Why the answer ends.
    pub(super) fn reason(&self) -> &str {
        let usual = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        self.finish_reason.as_deref().unwrap_or(usual)
    }

    /// The `usage` object.
    pub(super) fn token_counts(&self, context: &Context) -> Value {
        let (prompt, completion) = self.usage.unwrap_or_else(|| {
            let texts = [&self.text, &self.reasoning].into_iter().flatten().map(String::len);
            let calls = self.calls.iter().map(|call| call.name.len() + call.arguments.len());
            (estimate(context.prompt_bytes), estimate(texts.chain(calls).sum()))
        });
        json!({
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt.saturating_add(completion),
        })
    }
}

impl Call {
    fn json(&self, id: u64) -> Value {
        json!({
            "id": format!("call_{id}"),
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        })
    }
}

impl Context {
    pub(super) fn id(&self) -> String {
        format!("chatcmpl-{}", self.number + 1)
    }
}

fn estimate(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX)
}

use super::{error::ModelError, error_kind::ModelErrorKind, usage::Usage};
use crate::item::Item;
use crate::json::Object;
use crate::tool::arguments::{MalformedArguments, normalize_arguments};

/// One complete answer of the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The assistant message. Of a reply that came whole it is the message as received; of a stream it is put together,
    /// unknown fields included, and the arguments of its calls are JSON objects.
    pub message: Item,
    /// The calls to run, one for each of `message.tool_calls()`, in their order.
    pub calls: Vec<AnsweredCall>,
    /// Why the model stopped, in the server's own words. Whether there are calls is a matter of `calls` alone.
    pub finish_reason: Option<String>,
    /// What the server counted.
    pub usage: Option<Usage>,
    /// The server's id of this answer.
    pub id: Option<String>,
    /// The model that answered, which may have another name than the one that was asked for.
    pub model: Option<String>,
}

/// One call of an [`Answer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredCall {
    /// The call's id as the server gave it; empty where it gave none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The text of a JSON object, or why there is none. A call without one is not to be run; its result is the reason.
    pub arguments: Result<String, MalformedArguments>,
}

impl Answer {
    /// The answer that a message is. It is cut off if a limit ended it; then its last call is not to be run.
    pub(super) fn of_message(
        message: Item,
        finish_reason: Option<String>,
        usage: Option<Usage>,
    ) -> Result<Self, ModelError> {
        let read = message.tool_calls();
        let count = read.len();
        let cut = is_cut(finish_reason.as_deref());
        let calls = read.into_iter().enumerate().map(|(at, call)| {
            let arguments = match normalize_arguments(&call.arguments) {
                _ if cut && at + 1 == count => Err(MalformedArguments::Truncated),
                arguments => arguments.map(|text| text.into_owned()),
            };
            AnsweredCall { id: call.id, name: call.name, arguments }
        });
        Self { message, calls: calls.collect(), finish_reason, usage, id: None, model: None }.or_empty()
    }

    /// An answer without text and calls is an error, unless calls were announced: then it ends the turn.
    pub(super) fn or_empty(self) -> Result<Self, ModelError> {
        const CALLS_ANNOUNCED: [&str; 3] = ["tool_calls", "function_call", "tool_use"];
        let reason = self.finish_reason.as_deref().unwrap_or("none");
        if reason.eq_ignore_ascii_case("error") {
            let error = ModelError::new(ModelErrorKind::Server, "the provider ended the answer with an error");
            return Err(error.with_partial_text(self.message.text().unwrap_or_default()));
        }
        if !self.calls.is_empty() || says_something(&self.message) || CALLS_ANNOUNCED.contains(&reason) {
            return Ok(self);
        }
        let spent = self.usage.and_then(|usage| usage.completion_tokens).unwrap_or(0);
        let message = format!("an empty answer: no text and no calls, finish reason `{reason}`, {spent} tokens spent");
        Err(ModelError::new(ModelErrorKind::Malformed, message))
    }
}

/// Whether a limit on the length, or a filter, ended the answer before the model did.
pub(super) fn is_cut(finish_reason: Option<&str>) -> bool {
    const LIMITS: [&str; 6] =
        ["content_filter", "length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length"];
    finish_reason.is_some_and(|reason| LIMITS.iter().any(|limit| reason.eq_ignore_ascii_case(limit)))
}

fn says_something(message: &Item) -> bool {
    let has_text = message.text().is_some_and(|text| !text.trim().is_empty());
    has_text
        || Object::parse(message.json())
            .is_some_and(|fields| fields.filled("refusal").is_some() || fields.object("audio").is_some())
}

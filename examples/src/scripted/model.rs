use std::sync::Arc;

use serde_json::json;

use super::{RecordedRequest, Reply};

/// Decides what a [`ScriptedServer`](super::ScriptedServer) says.
///
/// A closure is one, if its first argument's type is written out:
/// `|request: &RecordedRequest, number: usize| Reply::text("hi")`. So is a [`Reply`], given every time, and a `Vec` of
/// replies, given one after the other; a request beyond the last one gets status 500, which says so.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot play the model",
    note = "give a `Reply`, a `Vec<Reply>`, or a closure `|request: &RecordedRequest, number: usize| -> Reply`"
)]
pub trait ScriptedModel: Send + Sync + 'static {
    /// The reply to a request. `number` is 0 for the first request that the model is asked about; requests which the
    /// server refuses by itself (a wrong key, path or body) are not counted.
    fn answer(&self, request: &RecordedRequest, number: usize) -> Reply;
}

impl<F> ScriptedModel for F
where
    F: Fn(&RecordedRequest, usize) -> Reply + Send + Sync + 'static,
{
    fn answer(&self, request: &RecordedRequest, number: usize) -> Reply {
        self(request, number)
    }
}

impl ScriptedModel for Reply {
    fn answer(&self, _request: &RecordedRequest, _number: usize) -> Reply {
        self.clone()
    }
}

impl ScriptedModel for Vec<Reply> {
    fn answer(&self, _request: &RecordedRequest, number: usize) -> Reply {
        self.get(number).cloned().unwrap_or_else(|| {
            let message = format!("the script has {} replies and this is request {}", self.len(), number + 1);
            Reply::error(
                500,
                json!({"error": {"message": message, "type": "script_error", "param": null, "code": null}}),
            )
        })
    }
}

impl<M: ScriptedModel + ?Sized> ScriptedModel for Arc<M> {
    fn answer(&self, request: &RecordedRequest, number: usize) -> Reply {
        self.as_ref().answer(request, number)
    }
}

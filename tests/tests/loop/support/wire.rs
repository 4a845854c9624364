use std::collections::VecDeque;

use insomnia_tasks_examples::scripted::{RecordedRequest, Reply};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// What one request carried, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The text of each message.
    pub(crate) messages: Vec<String>,
    /// The text of the tools.
    pub(crate) tools: String,
}

impl Sent {
    /// A message as a value.
    pub(crate) fn message(&self, index: usize) -> Value {
        serde_json::from_str(&self.messages[index]).unwrap()
    }

    /// The last message as a value.
    pub(crate) fn last(&self) -> Value {
        self.message(self.messages.len() - 1)
    }

    /// The roles of the messages, by their first letters.
    pub(crate) fn roles(&self) -> String {
        (0..self.messages.len()).map(|index| self.message(index)["role"].as_str().unwrap()[..1].to_owned()).collect()
    }

    /// The contents of the tool messages, in order.
    pub(crate) fn results(&self) -> Vec<String> {
        let messages = (0..self.messages.len()).map(|index| self.message(index));
        let tools = messages.filter(|message| message["role"] == "tool");
        tools.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    }
}

/// Takes a request's body apart without a change to its parts.
pub(crate) fn sent(request: &RecordedRequest) -> Sent {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
        #[serde(borrow, default)]
        tools: Option<&'a RawValue>,
    }
    let body: Body<'_> = serde_json::from_slice(&request.body).unwrap();
    Sent {
        messages: body.messages.iter().map(|message| message.get().to_owned()).collect(),
        tools: body.tools.map_or_else(String::new, |tools| tools.get().to_owned()),
    }
}

/// How many reminders the body of a request holds.
pub(crate) fn reminders(request: &RecordedRequest) -> usize {
    let text = request.text();
    let (opened, closed) = (text.matches("<system-reminder>").count(), text.matches("</system-reminder>").count());
    assert_eq!(opened, closed, "{text}");
    opened
}

/// Checks what holds in every conversation: each request begins with the whole of the one before, offers the same tools, and
/// has the results of calls right behind them, with nothing in between.
pub(crate) fn assert_conversation(requests: &[RecordedRequest]) {
    let all: Vec<_> = requests.iter().map(sent).collect();
    for (before, after) in all.iter().zip(all.iter().skip(1)) {
        assert!(after.messages.starts_with(&before.messages), "{before:#?}\n{after:#?}");
        assert_eq!(after.tools, before.tools);
    }
    let Some(last) = all.last() else { return };
    let whole = whole_prefixes(last);
    assert!(
        all.iter().all(|sent| whole.contains(&sent.messages.len())),
        "a request has calls without results: {last:#?}"
    );
}

/// The lengths at which every call has its result, in order and right behind.
fn whole_prefixes(sent: &Sent) -> Vec<usize> {
    let (mut due, mut whole) = (VecDeque::new(), Vec::new());
    for index in 0..sent.messages.len() {
        let message = sent.message(index);
        if message["role"] == "tool" {
            assert_eq!(Some(&message["tool_call_id"]), due.pop_front().as_ref(), "{sent:#?}");
            let reminds = message["content"].as_str().is_some_and(|text| text.ends_with("</system-reminder>"));
            assert!(!reminds || due.is_empty(), "a reminder stands between results: {sent:#?}");
        } else {
            assert!(due.is_empty(), "{} stands before results: {sent:#?}", message["role"]);
            let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
            due.extend(calls.into_iter().map(|call| call["id"].clone()));
        }
        if due.is_empty() {
            whole.push(index + 1);
        }
    }
    whole
}

/// A reply of this status in OpenAI's form.
pub(crate) fn refusal(status: u16, message: &str) -> Reply {
    let kind = if status < 500 { "invalid_request_error" } else { "server_error" };
    let error = json!({"message": message, "type": kind, "param": null, "code": null});
    Reply::error(status, json!({"error": error}))
}

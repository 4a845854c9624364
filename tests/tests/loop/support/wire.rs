use std::collections::VecDeque;

use insomnia_tasks_examples::scripted::{RecordedRequest, Reply};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// What one request carried, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The text of each message.
    pub(crate) messages: Vec<String>,
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
    }
    let body: Body<'_> = serde_json::from_slice(&request.body).unwrap();
    Sent { messages: body.messages.iter().map(|message| message.get().to_owned()).collect() }
}

/// How many reminders the body of a request holds.
pub(crate) fn reminders(request: &RecordedRequest) -> usize {
    let text = request.text();
    let (opened, closed) = (text.matches("<system-reminder>").count(), text.matches("</system-reminder>").count());
    assert_eq!(opened, closed, "{text}");
    opened
}

/// Checks what holds in every conversation: each request begins with the whole of the one before, is the same but for its
/// messages, and has the results of calls right behind them, with nothing in between.
pub(crate) fn assert_conversation(requests: &[RecordedRequest]) {
    let Some(last) = requests.last() else { return };
    let (last, last_text) = (sent(last), last.text());
    let (head, messages) = split_at_messages(&last_text);
    let joined = last.messages.join(",");
    let tail = messages.strip_prefix(&joined).expect("the messages are compact JSON");
    let whole = whole_prefixes(&last);
    let mut before = 0;
    for request in requests {
        let text = request.text();
        let messages = text.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
        let messages = messages.unwrap_or_else(|| panic!("not only the messages differ: {text}\n{last_text}"));
        assert!(joined.starts_with(messages), "not the beginning of the last request: {text}\n{last_text}");
        assert!(whole.contains(&messages.len()), "ends within a message or a round: {text}");
        assert!(messages.len() >= before, "shorter than the one before: {text}");
        before = messages.len();
    }
}

fn split_at_messages(body: &str) -> (&str, &str) {
    const KEY: &str = "\"messages\":[";
    body.split_at(body.find(KEY).expect("a request has messages") + KEY.len())
}

/// How long the text of the messages is wherever every call has its result, in order and right behind.
fn whole_prefixes(sent: &Sent) -> Vec<usize> {
    let (mut due, mut whole, mut end) = (VecDeque::new(), Vec::new(), 0);
    for index in 0..sent.messages.len() {
        end += sent.messages[index].len() + usize::from(index > 0);
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
            whole.push(end);
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

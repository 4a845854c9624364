use std::sync::Arc;

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::value::RawValue;

/// The body of a chat-completion request, put together from pieces that are JSON text already.
///
/// Keys stand in a fixed order (`model`, `messages`, `tools`, `stream`, `stream_options`, then the extra parameters in
/// theirs), and nothing is sent that was not asked for: no `tools` without tools, no `stream` unless true. Serialising and
/// [`RequestBody::to_bytes`] give the same bytes.
///
/// ```
/// use insomnia_tasks::{Item, wire::RequestBody};
///
/// let messages = [Item::user_message("hi").raw().clone()];
/// let body = RequestBody { model: "m", messages: &messages, stream: true, ..RequestBody::default() };
/// assert_eq!(body.to_bytes(), br#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}"#);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestBody<'a> {
    /// The model's name.
    pub model: &'a str,
    /// The messages, as [`Projection::messages`](super::Projection::messages) returns them.
    pub messages: &'a [Arc<RawValue>],
    /// The tools on offer, one definition each.
    pub tools: &'a [&'a RawValue],
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// Whether a stream is to end with the tokens used. Without `stream` it is not sent.
    pub include_usage: bool,
    /// Further parameters, such as `temperature`. A key that this struct writes itself is passed over: `model`,
    /// `messages`, `tools` and `stream` always, `stream_options` if the usage is asked for.
    pub extra: &'a [(String, Box<RawValue>)],
}

const USAGE: &str = r#"{"include_usage":true}"#;

impl RequestBody<'_> {
    /// The body as JSON text, in one allocation of the right size.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut length = 0;
        self.write(|piece| length += piece.len());
        let mut bytes = Vec::with_capacity(length);
        self.write(|piece| bytes.extend_from_slice(piece.as_bytes()));
        bytes
    }

    fn write(&self, mut piece: impl FnMut(&str)) {
        piece("{\"model\":");
        piece(&quoted(self.model));
        piece(",\"messages\":");
        array(&mut piece, self.messages.iter().map(AsRef::as_ref));
        if !self.tools.is_empty() {
            piece(",\"tools\":");
            array(&mut piece, self.tools.iter().copied());
        }
        if self.stream {
            piece(",\"stream\":true");
        }
        if self.asks_for_usage() {
            piece(",\"stream_options\":");
            piece(USAGE);
        }
        for (key, value) in self.extra() {
            piece(",");
            piece(&quoted(key));
            piece(":");
            piece(value.get());
        }
        piece("}");
    }

    fn asks_for_usage(&self) -> bool {
        self.stream && self.include_usage
    }

    fn extra(&self) -> impl Iterator<Item = &(String, Box<RawValue>)> {
        self.extra.iter().filter(|(key, _)| match key.as_str() {
            "model" | "messages" | "tools" | "stream" => false,
            "stream_options" => !self.asks_for_usage(),
            _ => true,
        })
    }
}

impl Serialize for RequestBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", self.model)?;
        map.serialize_entry("messages", &Messages(self.messages))?;
        if !self.tools.is_empty() {
            map.serialize_entry("tools", self.tools)?;
        }
        if self.stream {
            map.serialize_entry("stream", &true)?;
        }
        if self.asks_for_usage() {
            map.serialize_entry("stream_options", &serde_json::from_str::<&RawValue>(USAGE).ok())?;
        }
        for (key, value) in self.extra() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

struct Messages<'a>(&'a [Arc<RawValue>]);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.0.len()))?;
        for message in self.0 {
            sequence.serialize_element(message.as_ref())?;
        }
        sequence.end()
    }
}

fn array<'a>(piece: &mut impl FnMut(&str), values: impl Iterator<Item = &'a RawValue>) {
    piece("[");
    for (index, value) in values.enumerate() {
        if index > 0 {
            piece(",");
        }
        piece(value.get());
    }
    piece("]");
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Item;

    fn param(key: &str, json: &str) -> (String, Box<RawValue>) {
        (key.to_owned(), RawValue::from_string(json.to_owned()).unwrap())
    }

    #[track_caller]
    fn check(body: RequestBody<'_>, expected: &str) {
        let bytes = body.to_bytes();
        assert_eq!(String::from_utf8(bytes.clone()).unwrap(), expected);
        assert_eq!(serde_json::to_string(&body).unwrap(), expected);
        assert_eq!(bytes.capacity(), bytes.len());
    }

    #[test]
    fn sends_what_was_asked_for_and_nothing_else() {
        check(RequestBody { model: "m", ..Default::default() }, r#"{"model":"m","messages":[]}"#);
        let without_stream = RequestBody { model: "m", include_usage: true, ..Default::default() };
        check(without_stream, r#"{"model":"m","messages":[]}"#);
    }

    #[test]
    fn keeps_the_bytes_and_the_order() {
        let odd = Item::from_json(r#"{"role":"user","content":"\u00e9","x":1.50e1}"#).unwrap();
        let messages = [Item::user_message("hi").raw().clone(), odd.raw().clone()];
        let tools = [r#"{"type":"function","function":{"name":"t"}}"#, r#"{"b":1,"a":2}"#]
            .map(|json| serde_json::from_str::<&RawValue>(json).unwrap());
        let extra = [param("z\"", "0.10"), param("a", "null")];
        let body = RequestBody {
            model: "org/\"m\"",
            messages: &messages,
            tools: &tools,
            stream: true,
            include_usage: true,
            extra: &extra,
        };
        check(
            body,
            concat!(
                r#"{"model":"org/\"m\"","messages":[{"role":"user","content":"hi"},"#,
                r#"{"role":"user","content":"\u00e9","x":1.50e1}],"#,
                r#""tools":[{"type":"function","function":{"name":"t"}},{"b":1,"a":2}],"#,
                r#""stream":true,"stream_options":{"include_usage":true},"z\"":0.10,"a":null}"#
            ),
        );
    }

    #[test]
    fn an_extra_parameter_never_doubles_a_key() {
        let extra = [param("stream", "true"), param("stream_options", "{}"), param("model", "1"), param("n", "1")];
        let plain = RequestBody { model: "m", extra: &extra, ..Default::default() };
        check(plain, r#"{"model":"m","messages":[],"stream_options":{},"n":1}"#);
        let usage = RequestBody { stream: true, include_usage: true, ..plain };
        check(usage, r#"{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true},"n":1}"#);
    }
}

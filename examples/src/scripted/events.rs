use bytes::Bytes;
use serde_json::{Value, json};

use super::answer::{Answer, Context};

const WORDS_PER_EVENT: usize = 3;

impl Answer {
    /// The events of a streamed completion in the order in which OpenAI sends them, each with its blank line.
    pub(super) fn events(&self, context: &Context) -> Vec<Bytes> {
        let mut events = Events { context, out: Vec::new() };
        let content = if self.text.is_some() { json!("") } else { Value::Null };
        events.delta(&json!({"role": "assistant", "content": content, "refusal": null}));
        for piece in self.reasoning.iter().flat_map(|text| word_groups(text)) {
            events.delta(&json!({"reasoning_content": piece}));
        }
        for piece in self.text.iter().flat_map(|text| word_groups(text)) {
            events.delta(&json!({"content": piece}));
        }
        for (index, (id, call)) in (context.first_call..).zip(&self.calls).enumerate() {
            let head = json!({"name": call.name, "arguments": ""});
            let id = format!("call_{id}");
            events.delta(&json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": head}]}));
            for piece in pieces(&call.arguments, self.argument_piece) {
                events.delta(&json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}));
            }
        }
        let last = json!({"index": 0, "delta": {}, "logprobs": null, "finish_reason": self.reason()});
        events.chunk(json!([last]), None);
        if context.include_usage || self.tells_usage {
            events.chunk(json!([]), Some(self.token_counts(context)));
        }
        events.push("[DONE]");
        events.out
    }
}

struct Events<'a> {
    context: &'a Context,
    out: Vec<Bytes>,
}

impl Events<'_> {
    fn delta(&mut self, delta: &Value) {
        self.chunk(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]), None);
    }

    fn chunk(&mut self, choices: Value, usage: Option<Value>) {
        let mut chunk = json!({
            "id": self.context.id(),
            "object": "chat.completion.chunk",
            "created": self.context.created,
            "model": self.context.model,
            "choices": choices,
        });
        if usage.is_some() || self.context.include_usage {
            chunk["usage"] = json!(usage);
        }
        self.push(&chunk.to_string());
    }

    fn push(&mut self, data: &str) {
        self.out.push(format!("data: {data}\n\n").into());
    }
}

/// The text in groups of a few words, whitespace kept.
fn word_groups(text: &str) -> Vec<String> {
    let words: Vec<_> = text.split_inclusive(char::is_whitespace).collect();
    words.chunks(WORDS_PER_EVENT).map(<[&str]>::concat).collect()
}

/// The text in pieces of at most `bytes` bytes, or one character where that is longer.
fn pieces(text: &str, bytes: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut end) = (0, 0);
    for c in text.chars() {
        if end > start && end + c.len_utf8() - start > bytes {
            pieces.push(&text[start..end]);
            start = end;
        }
        end += c.len_utf8();
    }
    if end > start {
        pieces.push(&text[start..end]);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_whole_text_and_cut_no_character() {
        let text = r#"{"ä":"日本"}"#;
        for bytes in 1..=text.len() + 1 {
            let pieces = pieces(text, bytes);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().all(|piece| piece.len() <= bytes || piece.chars().count() == 1), "{pieces:?}");
        }
        assert_eq!(pieces("abc", 1), ["a", "b", "c"]);
        assert!(pieces("", 4).is_empty());
    }

    #[test]
    fn word_groups_keep_whitespace() {
        let text = "  one two\n\nthree four ";
        assert_eq!(word_groups(text).concat(), text);
        assert!(word_groups("").is_empty());
    }
}

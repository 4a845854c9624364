use serde::{Deserialize, Serialize};

use crate::json::{Object, number};

/// How many tokens a request cost, as the server counted them. What a server does not say is None.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the answer, reasoning included.
    pub completion_tokens: Option<u64>,
    /// Both together.
    pub total_tokens: Option<u64>,
    /// Those of the prompt that came from a cache.
    pub cached_tokens: Option<u64>,
    /// Those of the answer that were spent on reasoning.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// Reads a `usage` object; None if it says nothing.
    pub(super) fn read(json: &str) -> Option<Self> {
        let usage = Object::parse(json)?;
        let first = |keys: &[&str]| keys.iter().find_map(|key| number(usage.get(key)?));
        let detail = |of: &[&str], key: &str| of.iter().find_map(|of| number(usage.object(of)?.get(key)?));
        let prompt_details = ["prompt_tokens_details", "input_tokens_details"];
        let completion_details = ["completion_tokens_details", "output_tokens_details"];
        let read = Self {
            prompt_tokens: first(&["prompt_tokens", "input_tokens"]),
            completion_tokens: first(&["completion_tokens", "output_tokens"]),
            total_tokens: first(&["total_tokens"]),
            cached_tokens: detail(&prompt_details, "cached_tokens")
                .or_else(|| first(&["prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens"])),
            reasoning_tokens: detail(&completion_details, "reasoning_tokens").or_else(|| first(&["reasoning_tokens"])),
        };
        (read != Self::default()).then_some(read)
    }

    /// The usage that stands somewhere in a completion or a chunk of one, whose first choice this is.
    pub(super) fn find(reply: &Object<'_>, choice: Option<&Object<'_>>) -> Option<Self> {
        let own = reply.get("usage").and_then(Self::read);
        let groq = || Self::read(reply.object("x_groq")?.get("usage")?);
        let moonshot = || Self::read(choice?.get("usage")?);
        own.or_else(groq).or_else(moonshot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_there() {
        let json = r#"{"prompt_tokens":"5","completion_tokens":2.0,"total_tokens":null,"queue_time":0.1,
            "prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":1}}"#;
        let usage = Usage::read(json).unwrap();
        assert_eq!((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens), (Some(5), Some(2), None));
        assert_eq!((usage.cached_tokens, usage.reasoning_tokens), (Some(3), Some(1)));
        let deepseek = Usage::read(r#"{"prompt_tokens":9,"prompt_cache_hit_tokens":4}"#).unwrap();
        assert_eq!(deepseek.cached_tokens, Some(4));
    }

    #[test]
    fn says_nothing_where_nothing_is_said() {
        for json in ["{}", "[]", "7", r#"{"prompt_tokens":-1}"#, r#"{"prompt_tokens":{}}"#] {
            assert_eq!(Usage::read(json), None, "{json}");
        }
    }

    #[test]
    fn finds_it_where_servers_hide_it() {
        for json in [
            r#"{"x_groq":{"usage":{"prompt_tokens":5}}}"#,
            r#"{"usage":{},"choices":[{"usage":{"prompt_tokens":5}}]}"#,
            r#"{"usage":{"input_tokens":5}}"#,
        ] {
            let reply = Object::parse(json).unwrap();
            let choice = reply.get("choices").and_then(|choices| Object::parse(crate::json::elements(choices)[0]));
            assert_eq!(Usage::find(&reply, choice.as_ref()).unwrap().prompt_tokens, Some(5), "{json}");
        }
    }
}

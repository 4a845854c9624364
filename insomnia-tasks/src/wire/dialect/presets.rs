use super::settings::{CallIds, Dialect, LateSystem, ToolOnlyContent};

/// What only a model writes; servers with a closed message schema refuse it as input.
pub(super) const MODEL_OUTPUT: [&str; 7] =
    ["reasoning", "reasoning_content", "reasoning_details", "refusal", "annotations", "audio", "extra_content"];

impl Default for Dialect {
    /// The `portable` preset.
    fn default() -> Self {
        Self {
            late_system: LateSystem::Merge,
            call_ids: CallIds::AsGiven,
            tool_only_content: ToolOnlyContent::AsReceived,
            dropped_fields: Vec::new(),
            system_role: true,
            developer_role: false,
            alternate: true,
            strict_schemas: false,
            allow_null: false,
            stream_usage: false,
        }
    }
}

impl Dialect {
    /// The names that [`Dialect::preset`] knows.
    pub const PRESETS: [&'static str; 13] = [
        "openai",
        "mistral",
        "gemini",
        "anthropic",
        "qwen",
        "gpt-oss",
        "gemma",
        "deepseek",
        "kimi",
        "minimax",
        "groq",
        "cerebras",
        "portable",
    ];

    /// The dialect of a known server or model family; `None` for a name that is not in [`Dialect::PRESETS`].
    pub fn preset(name: &str) -> Option<Dialect> {
        let portable = Dialect::default();
        Some(match name {
            "openai" => portable
                .with_late_system(LateSystem::System)
                .with_developer_role(true)
                .with_alternate(false)
                .with_stream_usage(true),
            "mistral" => portable
                .with_call_ids(CallIds::NineAlphanumeric)
                .with_dropped_fields(MODEL_OUTPUT.into_iter().chain(["name"])),
            "groq" | "cerebras" => portable.with_dropped_fields(MODEL_OUTPUT),
            "anthropic" => portable.with_tool_only_content(ToolOnlyContent::Null).with_alternate(false),
            "gemini" | "qwen" | "gpt-oss" | "deepseek" | "kimi" | "minimax" => portable.with_alternate(false),
            "gemma" | "portable" => portable,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_preset_exists() {
        for name in Dialect::PRESETS {
            let dialect = Dialect::preset(name).unwrap();
            assert_eq!(dialect.late_system == LateSystem::System, name == "openai", "{name}");
            assert_eq!(dialect.call_ids == CallIds::NineAlphanumeric, name == "mistral", "{name}");
        }
        assert_eq!(Dialect::preset("OpenAI"), None);
    }
}

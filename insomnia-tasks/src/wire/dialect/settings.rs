use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What one server wants on the wire.
///
/// A dialect is data: it is stored with the session, and [`Projection`](super::Projection) applies it. Start from
/// [`Dialect::detect`] or [`Dialect::preset`] and change single settings with the `with_` methods. The default is the
/// `portable` preset, the form that no server is known to refuse.
///
/// ```
/// use insomnia_tasks::wire::{Dialect, LateSystem};
///
/// let dialect = Dialect::detect("https://api.openai.com/v1", "gpt-5-mini");
/// assert_eq!(dialect.late_system, LateSystem::System);
/// let dialect = dialect.with_late_system(LateSystem::Merge);
/// assert_eq!(dialect.late_system, LateSystem::Merge);
/// ```
///
/// Which servers get which preset, and why, is in the [guide](crate::guide::dialects).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Dialect {
    /// How a system message that is not at the start is sent.
    pub late_system: LateSystem,
    /// Which form the ids of tool calls have.
    pub call_ids: CallIds,
    /// The `content` of an assistant message that only calls tools.
    pub tool_only_content: ToolOnlyContent,
    /// Fields that the server refuses: they are left out of every message and of its tool calls. Fields without which
    /// a message means nothing (`role`, `content`, `tool_calls`, `tool_call_id`, `id`, `type`, `function`) are kept
    /// even when listed.
    pub dropped_fields: Vec<String>,
    /// Whether the server takes system messages at all. Where not, those at the start are the beginning of the first user
    /// message.
    pub system_role: bool,
    /// Whether the server knows the role `developer`. Where not, such messages are sent as `system`.
    pub developer_role: bool,
    /// Whether user and assistant messages must alternate. Then a prompt after another one or after a tool result, which is
    /// where a turn broke off, gets a short assistant message before it. Late system messages have the form that
    /// [`late_system`](Self::late_system) names all the same.
    pub alternate: bool,
    /// Whether tools are offered with strict schemas: `"strict": true`, every field required, those that are optional
    /// nullable. A tool that strict mode cannot express, such as one that takes any JSON value, is offered without.
    pub strict_schemas: bool,
    /// Whether the schemas of tools allow `null` where a field is optional: for servers that check the arguments that a
    /// model writes against the schema. Strict schemas always do.
    pub allow_null: bool,
    /// Whether a streamed answer is asked to end with a count of its tokens (`stream_options`), which some servers refuse.
    /// [`WorkerSettings::stream_usage`](crate::worker::WorkerSettings::stream_usage) overrides it.
    pub stream_usage: bool,
}

impl Dialect {
    /// The same dialect with late system messages sent this way.
    #[must_use]
    pub fn with_late_system(mut self, late_system: LateSystem) -> Self {
        self.late_system = late_system;
        self
    }

    /// The same dialect with call ids of this form.
    #[must_use]
    pub fn with_call_ids(mut self, call_ids: CallIds) -> Self {
        self.call_ids = call_ids;
        self
    }

    /// The same dialect with this content in messages that only call tools.
    #[must_use]
    pub fn with_tool_only_content(mut self, content: ToolOnlyContent) -> Self {
        self.tool_only_content = content;
        self
    }

    /// The same dialect with exactly these fields left out.
    #[must_use]
    pub fn with_dropped_fields<S: Into<String>>(mut self, fields: impl IntoIterator<Item = S>) -> Self {
        self.dropped_fields = fields.into_iter().map(Into::into).collect();
        self
    }

    /// The same dialect with system messages at the start, or with their text in the first user message.
    #[must_use]
    pub fn with_system_role(mut self, known: bool) -> Self {
        self.system_role = known;
        self
    }

    /// The same dialect with the role `developer` kept or sent as `system`.
    #[must_use]
    pub fn with_developer_role(mut self, known: bool) -> Self {
        self.developer_role = known;
        self
    }

    /// The same dialect with strictly alternating user and assistant messages, or without.
    #[must_use]
    pub fn with_alternate(mut self, alternate: bool) -> Self {
        self.alternate = alternate;
        self
    }

    /// The same dialect with strict tool schemas, or without.
    #[must_use]
    pub fn with_strict_schemas(mut self, strict: bool) -> Self {
        self.strict_schemas = strict;
        self
    }

    /// The same dialect with `null` allowed for optional fields in the schemas of tools, or not.
    #[must_use]
    pub fn with_allow_null(mut self, allowed: bool) -> Self {
        self.allow_null = allowed;
        self
    }

    /// The same dialect with streams that end with a count of tokens, or without.
    #[must_use]
    pub fn with_stream_usage(mut self, asked: bool) -> Self {
        self.stream_usage = asked;
        self
    }
}

/// How a system message that is not at the start is sent. Parses from and prints as its name in lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LateSystem {
    /// As the `system` message that it is.
    System,
    /// As a `developer` message.
    Developer,
    /// As a `user` message.
    User,
    /// As more text in the tool or user message right before it.
    #[default]
    Merge,
}

impl LateSystem {
    const ALL: [LateSystem; 4] = [LateSystem::System, LateSystem::Developer, LateSystem::User, LateSystem::Merge];

    fn name(self) -> &'static str {
        match self {
            LateSystem::System => "system",
            LateSystem::Developer => "developer",
            LateSystem::User => "user",
            LateSystem::Merge => "merge",
        }
    }
}

impl fmt::Display for LateSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for LateSystem {
    type Err = UnknownPlacement;

    fn from_str(name: &str) -> Result<Self, UnknownPlacement> {
        Self::ALL
            .into_iter()
            .find(|placement| placement.name() == name)
            .ok_or_else(|| UnknownPlacement(name.chars().take(40).collect()))
    }
}

/// A text that names no [`LateSystem`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown placement `{0}`: use `system`, `developer`, `user` or `merge`")]
pub struct UnknownPlacement(String);

/// Which form the ids of tool calls have on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallIds {
    /// As the server gave them. Missing, empty and repeated ids, and those longer than 40 characters, are replaced.
    #[default]
    AsGiven,
    /// Nine letters or digits, as Mistral wants them.
    NineAlphanumeric,
}

/// The `content` of an assistant message that calls tools and says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolOnlyContent {
    /// `null` or a blank string, whichever was received; `null` where the key was absent.
    #[default]
    AsReceived,
    /// `null`.
    Null,
    /// `""`.
    Empty,
    /// No `content` at all.
    Absent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_parse_from_their_names() {
        for placement in LateSystem::ALL {
            assert_eq!(placement.to_string().parse(), Ok(placement));
        }
        let error = "auto".parse::<LateSystem>().unwrap_err();
        assert!(error.to_string().contains("`auto`"), "{error}");
    }

    #[test]
    fn a_stored_dialect_reads_back_with_fields_missing_or_unknown() {
        let dialect = Dialect::preset("mistral").unwrap();
        let json = serde_json::to_string(&dialect).unwrap();
        assert_eq!(serde_json::from_str::<Dialect>(&json).unwrap(), dialect);
        let partial: Dialect = serde_json::from_str(r#"{"late_system":"system","from_later":1}"#).unwrap();
        assert_eq!(partial, Dialect::default().with_late_system(LateSystem::System));
    }
}

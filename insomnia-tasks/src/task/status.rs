use std::{fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

/// Where a task stands. Any status may follow any other.
///
/// Read forgivingly: case, `_`, `-` and spaces do not matter, and `todo` and `done` are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
    /// No longer wanted; kept so that its id stays taken.
    Deleted,
}

impl TaskStatus {
    /// The four statuses in the order of a task's life.
    pub const ALL: [Self; 4] = [Self::Pending, Self::InProgress, Self::Completed, Self::Deleted];

    /// The word on the wire: `pending`, `inprogress`, `completed` or `deleted`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "inprogress",
            Self::Completed => "completed",
            Self::Deleted => "deleted",
        }
    }

    /// Whether a task with this status is still open: `pending` or `inprogress`.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Pending | Self::InProgress)
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that is no status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown status; use pending, inprogress, completed or deleted")]
pub struct ParseTaskStatusError;

impl FromStr for TaskStatus {
    type Err = ParseTaskStatusError;

    fn from_str(text: &str) -> Result<Self, ParseTaskStatusError> {
        let word: String = text
            .chars()
            .filter(|c| !matches!(c, '_' | '-') && !c.is_whitespace())
            .flat_map(char::to_lowercase)
            .collect();
        match word.as_str() {
            "pending" | "todo" | "open" => Ok(Self::Pending),
            "inprogress" | "started" | "doing" => Ok(Self::InProgress),
            "completed" | "complete" | "done" | "finished" => Ok(Self::Completed),
            "deleted" | "delete" | "removed" => Ok(Self::Deleted),
            _ => Err(ParseTaskStatusError),
        }
    }
}

impl<'de> Deserialize<'de> for TaskStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = TaskStatus;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a status: pending, inprogress, completed or deleted")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<TaskStatus, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}

impl JsonSchema for TaskStatus {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TaskStatus".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": Self::ALL.map(Self::as_str)})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spellings_of_models_are_understood() {
        for (text, status) in [
            ("in_progress", TaskStatus::InProgress),
            ("in-progress", TaskStatus::InProgress),
            ("InProgress", TaskStatus::InProgress),
            ("In Progress", TaskStatus::InProgress),
            ("done", TaskStatus::Completed),
            ("COMPLETED", TaskStatus::Completed),
            ("todo", TaskStatus::Pending),
            ("deleted", TaskStatus::Deleted),
        ] {
            assert_eq!(text.parse(), Ok(status), "{text}");
        }
        for status in TaskStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
    }

    #[test]
    fn an_unknown_word_is_answered_with_the_four() {
        let error = serde_json::from_str::<TaskStatus>("\"blocked\"").unwrap_err().to_string();
        for status in TaskStatus::ALL {
            assert!(error.contains(status.as_str()), "{error}");
        }
    }
}

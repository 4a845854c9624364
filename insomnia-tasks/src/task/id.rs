use std::{fmt, num::NonZeroU64, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

/// A task's id: 1, 2, 3 …, never reused in a session.
///
/// Models write ids in several ways; `3`, `"3"`, `"#3"` and `3.0` are all read as the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct TaskId(NonZeroU64);

impl TaskId {
    /// The first id of a session.
    pub const FIRST: Self = Self(NonZeroU64::MIN);

    /// The id with this number; none for 0.
    pub const fn new(number: u64) -> Option<Self> {
        match NonZeroU64::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The id as a number.
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The id after this one.
    pub(crate) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that names no task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a taskid is a whole number from 1, such as 3")]
pub struct ParseTaskIdError;

impl FromStr for TaskId {
    type Err = ParseTaskIdError;

    fn from_str(text: &str) -> Result<Self, ParseTaskIdError> {
        let text = text.trim();
        let digits = text.strip_prefix('#').unwrap_or(text).trim();
        if let Ok(number) = digits.parse() {
            return Self::new(number).ok_or(ParseTaskIdError);
        }
        digits.parse().ok().and_then(whole).ok_or(ParseTaskIdError)
    }
}

fn whole(number: f64) -> Option<TaskId> {
    // beyond 2^53 a float no longer names one whole number
    (number.fract() == 0.0 && (1.0..=9_007_199_254_740_992.0).contains(&number))
        .then_some(number as u64)
        .and_then(TaskId::new)
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = TaskId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a taskid, which is a whole number from 1, such as 3")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<TaskId, E> {
                TaskId::new(number).ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(number), &self))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<TaskId, E> {
                let id = u64::try_from(number).ok().and_then(TaskId::new);
                id.ok_or_else(|| E::invalid_value(de::Unexpected::Signed(number), &self))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<TaskId, E> {
                whole(number).ok_or_else(|| E::invalid_value(de::Unexpected::Float(number), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<TaskId, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for TaskId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TaskId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spellings_of_models_are_one_id() {
        for json in ["3", "\"3\"", "\"#3\"", "3.0", "\" # 3 \"", "\"3.0\""] {
            assert_eq!(serde_json::from_str::<TaskId>(json).unwrap().get(), 3, "{json}");
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for json in ["0", "-1", "1.5", "\"\"", "\"three\"", "null", "true", "1e300", "\"NaN\"", "[3]"] {
            assert!(serde_json::from_str::<TaskId>(json).is_err(), "{json}");
        }
    }
}

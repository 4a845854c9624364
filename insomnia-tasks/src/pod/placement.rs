use std::{fmt, str::FromStr};

use crate::wire::LateSystem;

/// How reminders and notifications reach the server, and whether there are reminders at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReminderPlacement {
    /// As the server's address and the model's name suggest; merged on a recognised refusal.
    #[default]
    Auto,
    /// Always in this form.
    Fixed(LateSystem),
    /// No reminders. Notifications are placed as with [`Auto`](Self::Auto).
    Off,
}

/// A word that is no placement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown placement `{0}`; use auto, system, developer, user, merge or off")]
pub struct ParsePlacementError(String);

impl FromStr for ReminderPlacement {
    type Err = ParsePlacementError;

    fn from_str(word: &str) -> Result<Self, ParsePlacementError> {
        match word {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            word => word.parse().map(Self::Fixed).map_err(|_| ParsePlacementError(word.to_owned())),
        }
    }
}

impl fmt::Display for ReminderPlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Fixed(form) => form.fmt(f),
            Self::Off => f.write_str("off"),
        }
    }
}

use std::fmt;

/// What was decided before one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// A reminder goes with the request.
    Remind {
        /// What it adds to every request from now on, in tokens (an estimate).
        tokens: usize,
    },
    /// No reminder, and why.
    Quiet(Quiet),
}

/// Why there is no reminder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quiet {
    /// No task is `pending` or `inprogress`.
    NoActiveTask,
    /// The request does not offer the task tools.
    ToolsNotOffered,
    /// The host has paused reminders.
    Paused,
    /// The model called TaskCreate or TaskUpdate this many requests ago, fewer than the inactivity.
    UsedRecently {
        /// Requests since then.
        requests_ago: u64,
    },
    /// The last reminder is this many requests ago, fewer than the cooldown.
    CoolingDown {
        /// Requests since then.
        requests_ago: u64,
    },
}

impl Decision {
    /// The decision in one word, as traces tell it: `remind`, or why not.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Remind { .. } => "remind",
            Self::Quiet(Quiet::NoActiveTask) => "no_active_task",
            Self::Quiet(Quiet::ToolsNotOffered) => "tools_not_offered",
            Self::Quiet(Quiet::Paused) => "paused",
            Self::Quiet(Quiet::UsedRecently { .. }) => "used_recently",
            Self::Quiet(Quiet::CoolingDown { .. }) => "cooling_down",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remind { tokens } => write!(f, "reminder (about {tokens} tokens)"),
            Self::Quiet(why) => write!(f, "no reminder: {why}"),
        }
    }
}

impl fmt::Display for Quiet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoActiveTask => f.write_str("no active task"),
            Self::ToolsNotOffered => f.write_str("the request does not offer the task tools"),
            Self::Paused => f.write_str("paused"),
            Self::UsedRecently { requests_ago } => write!(f, "task tools used {}", ago(*requests_ago)),
            Self::CoolingDown { requests_ago } => write!(f, "cooling down, the last one is {}", ago(*requests_ago)),
        }
    }
}

fn ago(requests: u64) -> String {
    format!("{requests} request{} ago", if requests == 1 { "" } else { "s" })
}

//! What the integration tests here and those of the adapters share: the worked cases of the reminder. The tests themselves are in
//! `tests/`.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, where these are the failure

use insomnia_tasks::reminder::Cadence;
use insomnia_tasks_examples::scripted::Reply;
use serde::Deserialize;
use serde_json::{Value, json};

/// A script of a session and how many reminders each of its requests holds.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// What it shows.
    pub name: String,
    inactivity: u32,
    cooldown: u32,
    /// The steps of each turn.
    pub turns: Vec<Vec<String>>,
    /// How many reminders each request holds.
    pub reminders_in_request: Vec<usize>,
}

/// What the model's server answers to one request.
#[derive(Clone, Debug)]
pub enum Step {
    /// Calls of the task tools: name and arguments of each.
    Calls(Vec<(&'static str, Value)>),
    /// An answer in words.
    Text,
    /// No answer.
    Refusal,
}

impl Case {
    /// All cases.
    ///
    /// # Panics
    /// If they cannot be read.
    pub fn all() -> Vec<Self> {
        let cases: Vec<_> = serde_json::from_str(include_str!("../data/reminder.json")).unwrap();
        assert!(cases.len() > 50);
        cases
    }

    /// How often reminders come.
    ///
    /// # Panics
    /// If the case has a cadence that cannot be.
    pub fn cadence(&self) -> Cadence {
        Cadence::new(self.inactivity, self.cooldown).unwrap()
    }

    /// The answers to all requests, in order.
    pub fn steps(&self) -> impl Iterator<Item = Step> {
        self.turns.iter().flatten().map(|step| Step::read(step))
    }

    /// Whether the last request of this turn is refused.
    pub fn fails(turn: &[String]) -> bool {
        turn.last().is_some_and(|step| step == "X")
    }

    /// The answers as a server of chat completions gives them.
    pub fn replies(&self) -> Vec<Reply> {
        self.steps()
            .map(|step| match step {
                Step::Calls(calls) => Reply::calls(calls),
                Step::Text => Reply::text(TEXT),
                Step::Refusal => refusal(),
            })
            .collect()
    }
}

/// The answer in words.
pub const TEXT: &str = "So far, so good.";

/// A reply that no loop tries again.
pub fn refusal() -> Reply {
    Reply::error(400, json!({"error": {"message": "not now", "type": "invalid_request_error"}}))
}

impl Step {
    fn read(step: &str) -> Self {
        let create = || ("TaskCreate", json!({"subject": "One more thing", "description": "to be done"}));
        let update = |id: u64, status: &str| ("TaskUpdate", json!({"taskid": id, "status": status}));
        match step.split(':').collect::<Vec<_>>()[..] {
            ["C"] => Self::Calls(vec![create()]),
            ["CC"] => Self::Calls(vec![create(), create()]),
            ["U", id, status] => Self::Calls(vec![update(id.parse().unwrap(), status)]),
            ["B"] => Self::Calls(vec![update(9_999, "completed")]),
            ["I"] => Self::Calls(vec![("TaskList", json!({}))]),
            ["T"] => Self::Text,
            ["X"] => Self::Refusal,
            _ => panic!("unknown step {step}"),
        }
    }
}

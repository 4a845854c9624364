use insomnia_tasks::reminder::Cadence;
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{assert_conversation, refusal, reminders};

/// A script of a session and how many reminders each of its requests holds.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Case {
    pub(super) name: String,
    inactivity: u32,
    cooldown: u32,
    pub(super) turns: Vec<Vec<String>>,
    pub(super) reminders_in_request: Vec<usize>,
}

/// What the model's server answers to one request.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Calls(Vec<(&'static str, Value)>),
    Text,
    Refusal,
}

impl Case {
    pub(super) fn all() -> Vec<Self> {
        serde_json::from_str(include_str!("../../../data/reminder.json")).unwrap()
    }

    pub(super) fn cadence(&self) -> Cadence {
        Cadence::new(self.inactivity, self.cooldown).unwrap()
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = Step> {
        self.turns.iter().flatten().map(|step| Step::read(step))
    }

    /// Whether the last request of this turn is refused.
    pub(super) fn fails(turn: &[String]) -> bool {
        turn.last().is_some_and(|step| step == "X")
    }

    pub(super) fn replies(&self) -> Vec<Reply> {
        self.steps()
            .map(|step| match step {
                Step::Calls(calls) => Reply::calls(calls),
                Step::Text => Reply::text("So far, so good."),
                Step::Refusal => refusal(400, "not now"),
            })
            .collect()
    }

    pub(super) fn check(&self, requests: &[RecordedRequest]) {
        let found: Vec<_> = requests.iter().map(reminders).collect();
        assert_eq!(found, self.reminders_in_request, "{}", self.name);
        assert!(found.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{}", self.name);
        assert_conversation(requests);
    }
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

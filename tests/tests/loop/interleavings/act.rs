use insomnia_tasks::task::TaskStatus;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What happens to a session.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// A prompt, answers that call tools, and how the turn ends.
    Turn(Vec<Vec<Call>>, End),
    /// The host changes a task, or makes one where there is none of this id.
    Edit(u64, TaskStatus),
    Notify,
    /// The session is closed and opened again.
    Reopen,
}

/// How a turn ends.
#[derive(Clone, Debug)]
pub(super) enum End {
    Text,
    /// The last request is refused.
    Refused,
    /// It is dropped while it waits for the reply.
    Dropped,
    /// It is dropped while a tool of one more answer runs; these calls stand before that tool's.
    DroppedInTool(Vec<Call>),
}

/// A call of the model.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    /// A task, with arguments written in one of several forms.
    Create(usize),
    Update(u64, TaskStatus),
    Get(u64),
    List,
    /// A tool of the host that changes a task behind the model's back, and names it in its result.
    Meddle(u64, TaskStatus),
}

impl Act {
    /// A turn of one answer with these calls, and a text.
    pub(super) fn answer(calls: Vec<Call>) -> Self {
        Self::Turn(vec![calls], End::Text)
    }
}

impl Call {
    /// Whether it counts as task management.
    pub(super) fn manages(self) -> bool {
        matches!(self, Self::Create(_) | Self::Update(..))
    }

    pub(super) fn wire(self) -> (&'static str, Value) {
        match self {
            Self::Create(form) => ("TaskCreate", Value::String(FORM[form].replace("OBJECT", OBJECT))),
            Self::Update(id, status) => ("TaskUpdate", json!({"taskid": id, "status": status})),
            Self::Get(id) => ("TaskGet", json!({"taskid": id})),
            Self::List => ("TaskList", json!({})),
            Self::Meddle(id, status) => ("Meddle", json!({"taskid": id, "status": status})),
        }
    }
}

const OBJECT: &str = r#"{"subject":"a\nb","description":"d"}"#;

/// How models write arguments; the first is as it should be.
const FORM: [&str; 10] = [
    "OBJECT",
    "```json\nOBJECT\n```",
    "{}OBJECT",
    "OBJECTOBJECT",
    "OBJECT Done.",
    "\u{feff} OBJECT\n",
    r#""{\"subject\":\"a\\nb\",\"description\":\"d\"}""#,
    "{\"subject\":\"a\nb\",\"description\":\"d\"}",
    "OBJECT{}",
    "OBJECT He said \"done\".",
];

pub(super) const FORMS: usize = FORM.len();

pub(super) fn acts() -> impl Strategy<Value = Vec<Act>> {
    let turn = (proptest::collection::vec(calls(), 0..4), end()).prop_map(|(answers, end)| Act::Turn(answers, end));
    let act = prop_oneof![
        6 => turn,
        2 => (1..6_u64, status()).prop_map(|(id, status)| Act::Edit(id, status)),
        1 => Just(Act::Notify),
        2 => Just(Act::Reopen),
    ];
    proptest::collection::vec(act, 1..9)
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        4 => Just(End::Text),
        1 => Just(End::Refused),
        1 => Just(End::Dropped),
        1 => calls().prop_map(End::DroppedInTool),
    ]
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        3 => (0..FORMS).prop_map(Call::Create),
        3 => (1..6_u64, status()).prop_map(|(id, status)| Call::Update(id, status)),
        1 => (1..6_u64).prop_map(Call::Get),
        3 => Just(Call::List),
        2 => (1..6_u64, status()).prop_map(|(id, status)| Call::Meddle(id, status)),
    ];
    proptest::collection::vec(call, 1..4)
}

fn status() -> impl Strategy<Value = TaskStatus> {
    proptest::sample::select(&TaskStatus::ALL[..])
}

use insomnia_tasks::{
    ToolCall,
    task::tools::{changes_tasks, is_task_tool},
    wire::Usage,
};

/// One record, or a remark between two.
pub(super) struct Shown {
    /// The record's number; 0 for a remark.
    pub(super) seq: u64,
    pub(super) turn: u64,
    pub(super) kind: Kind,
    /// Whether a rewind left it behind.
    pub(super) void: bool,
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    /// The number of the request whose answer this is.
    pub(super) request: Option<usize>,
    pub(super) usage: Option<Usage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Assistant,
    /// A result without a call.
    Tool,
    System,
    Reminder,
    Notification,
    /// A record that is no message, or something that shows between records.
    Remark,
    /// A remark that tells of a failure.
    Trouble,
}

/// A tool call and what came of it.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) result: Option<String>,
}

impl Shown {
    pub(super) fn remark(seq: u64, turn: u64, kind: Kind, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { seq, turn, kind, void: false, text, calls: Vec::new(), request: None, usage: None }
    }

    pub(super) fn updates_tasks(&self) -> bool {
        self.calls.iter().any(|call| changes_tasks(&call.name))
    }

    pub(super) fn calls_task_tools(&self) -> bool {
        self.calls.iter().any(|call| is_task_tool(&call.name))
    }

    pub(super) fn is_error(&self) -> bool {
        self.kind == Kind::Trouble || self.calls.iter().any(Call::failed)
    }
}

impl Call {
    pub(super) fn failed(&self) -> bool {
        self.result.as_deref().is_none_or(|result| result.starts_with("error: "))
    }
}

impl From<ToolCall> for Call {
    fn from(ToolCall { id, name, arguments }: ToolCall) -> Self {
        Self { id, name, arguments, result: None }
    }
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "result without a call",
            Self::System => "system",
            Self::Reminder => "reminder",
            Self::Notification => "notification",
            Self::Remark | Self::Trouble => "note",
        }
    }
}

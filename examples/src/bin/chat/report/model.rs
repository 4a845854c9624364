use insomnia_tasks::wire::Usage;

use super::{entries::Shown, figures::Figures, lanes::Lane};

/// What a session's records say, in the form in which they are shown.
pub(super) struct Report {
    pub(super) id: String,
    /// When the session was made and when it was last written to, in milliseconds since 1970.
    pub(super) time: [u64; 2],
    pub(super) instructions: Option<String>,
    /// Everything that was recorded, in that order; what a rewind left behind is marked.
    pub(super) entries: Vec<Shown>,
    /// The answers that count, in order. Request 1 is the first.
    pub(super) requests: Vec<Request>,
    /// How many requests stand before each turn.
    pub(super) turns: Vec<usize>,
    pub(super) lanes: Vec<Lane>,
    pub(super) reminders: Vec<Reminder>,
    /// The record of each compaction, and how many requests stand before it.
    pub(super) compactions: Vec<(u64, usize)>,
    pub(super) figures: Figures,
    pub(super) damage: Vec<String>,
}

/// One call of the model that was answered.
pub(super) struct Request {
    /// The number of the answer's record.
    pub(super) seq: u64,
    pub(super) usage: Option<Usage>,
    /// Whether the answer calls TaskCreate or TaskUpdate.
    pub(super) updates: bool,
    /// Whether a task was open when it was sent.
    pub(super) open: bool,
}

/// One reminder that counts.
pub(super) struct Reminder {
    pub(super) seq: u64,
    /// The request that carries it, from 1.
    pub(super) request: usize,
    /// The first request from that one on whose answer calls TaskCreate or TaskUpdate.
    pub(super) answered: Option<usize>,
}

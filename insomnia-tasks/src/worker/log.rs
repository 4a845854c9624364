use std::sync::Arc;

use super::{History, Journal, LearnedDialect};
use crate::{
    Item, ItemKind, ToolCall,
    interceptor::Interceptor,
    wire::{Dialect, Projection, Usage},
};

/// Everything that takes in a committed item, in one piece: no await lies between, so a dropped turn cannot tear it.
pub(super) struct Log {
    pub(super) history: History,
    pub(super) interceptors: Vec<Arc<dyn Interceptor>>,
    pub(super) journal: Arc<dyn Journal>,
    pub(super) turn: u64,
    /// The turn of each item.
    turns: Vec<u64>,
    instructions: Option<String>,
    summarised: Option<Summarised>,
    /// What the model is asked to summarise, while it is.
    asking: Option<Asking>,
    projection: Projection,
}

/// The part of a history that is not sent any more, and what is sent in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Summarised {
    /// What the model gets.
    pub(crate) text: String,
    /// How many items it stands for.
    pub(crate) tail: usize,
    /// How many items there were. The reminders among them are not sent again.
    pub(crate) until: usize,
}

/// What a history is to be resumed with.
#[derive(Debug, Default)]
pub(crate) struct Resumed {
    pub(crate) items: Vec<Item>,
    /// The turn of each item.
    pub(crate) turns: Vec<u64>,
    pub(crate) turn: u64,
    pub(crate) summarised: Option<Summarised>,
}

struct Asking {
    items: usize,
    prompt: Item,
}

impl Log {
    /// A log that goes on from what is in the journal already.
    pub(super) fn resumed(
        dialect: Dialect,
        instructions: Option<String>,
        journal: Arc<dyn Journal>,
        interceptors: Vec<Arc<dyn Interceptor>>,
        resumed: Resumed,
    ) -> Self {
        let projection = Projection::new(dialect, instructions.as_deref());
        let mut log = Self {
            history: History::default(),
            interceptors,
            journal,
            turn: 0,
            turns: Vec::new(),
            instructions,
            summarised: None,
            asking: None,
            projection,
        };
        for item in &resumed.items {
            log.interceptors.iter().for_each(|interceptor| interceptor.on_commit(item));
        }
        log.replace(resumed);
        log
    }

    /// Goes on from another history. The interceptors are not told.
    pub(super) fn replace(&mut self, resumed: Resumed) {
        let Resumed { items, turns, turn, summarised } = resumed;
        self.history.replace(items);
        (self.turns, self.turn, self.summarised) = (turns, turn, summarised);
        self.turns.resize(self.history.known(), self.turn);
        self.project(self.projection.dialect().clone());
    }

    /// Commits an item at the tail of the history.
    pub(super) fn commit(&mut self, item: Item) {
        self.journal.commit(&item, self.turn);
        self.take_in(item);
    }

    /// Commits an answer of the model.
    pub(super) fn commit_answer(&mut self, answer: Item, usage: Option<Usage>) {
        self.journal.commit_answer(&answer, self.turn, usage);
        self.take_in(answer);
    }

    fn take_in(&mut self, item: Item) {
        self.projection.push(&item);
        for interceptor in &self.interceptors {
            interceptor.on_commit(&item);
        }
        self.turns.push(self.turn);
        self.history.push(item);
    }

    /// Makes what is committed durable.
    pub(super) async fn flush(&self) -> Result<(), super::TurnError> {
        self.journal.flush().await.map_err(super::TurnError::Journal)
    }

    /// Whether a request that nothing was committed for may be sent.
    pub(super) async fn renew(&self) -> Result<(), super::TurnError> {
        self.journal.renew().await.map_err(super::TurnError::Journal)
    }

    pub(super) fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// What a request sent now carries.
    pub(super) fn projection(&self) -> &Projection {
        &self.projection
    }

    /// The calls of the last answer, under the ids that their results carry.
    pub(super) fn open_calls(&self) -> Vec<ToolCall> {
        self.projection.open_calls()
    }

    /// Speaks another dialect from now on, and records it; nothing happens and `false` comes back where the request would be
    /// the same.
    pub(super) fn speak(&mut self, learned: &LearnedDialect) -> bool {
        let texts = |projection: &Projection| -> Vec<String> {
            projection.messages().iter().map(|message| message.get().to_owned()).collect()
        };
        let before = texts(&self.projection);
        let spoken = self.projection.dialect().clone();
        let same_rest = learned.dialect.stream_usage == spoken.stream_usage;
        self.project(learned.dialect.clone());
        if same_rest && texts(&self.projection) == before {
            self.project(spoken);
            return false;
        }
        self.journal.dialect(learned);
        true
    }

    /// How many items a summary stands for.
    pub(super) fn summarised(&self) -> usize {
        self.summarised.as_ref().map_or(0, |summarised| summarised.tail)
    }

    /// How many items stand before the last `keep` turns, where that is more than is summarised already. Of fewer turns than
    /// that all but the first are kept, but at least `least`.
    pub(super) fn tail(&self, keep: usize, least: usize) -> Option<usize> {
        let sent = self.summarised();
        let begins = |index: &usize| *index == sent || self.turns.get(*index) != self.turns.get(*index - 1);
        let mut starts: Vec<_> = (sent..self.turns.len()).filter(begins).collect();
        starts.push(self.turns.len());
        let last = starts.len() - 1;
        let place = last.saturating_sub(keep).max(1).min(last.saturating_sub(least));
        starts.get(place).copied().filter(|tail| *tail > sent)
    }

    /// Sends this summary in place of the first `tail` items from now on.
    pub(super) fn compact(&mut self, summary: &str, tail: usize, usage: Option<Usage>) {
        let text = self.journal.compact_answer(summary, tail, usage);
        self.summarised = Some(Summarised { text, tail, until: self.turns.len() });
        self.project(self.projection.dialect().clone());
    }

    /// Until [`asked`](Self::asked): what a request carries is the history up to `tail` and this prompt.
    pub(super) fn ask_about(&mut self, tail: usize, prompt: &str) {
        self.asking = Some(Asking { items: tail, prompt: Item::user_message(prompt) });
        self.project(self.projection.dialect().clone());
    }

    pub(super) fn asked(&mut self) {
        if self.asking.take().is_some() {
            self.project(self.projection.dialect().clone());
        }
    }

    fn project(&mut self, dialect: Dialect) {
        let mut projection = Projection::new(dialect, self.instructions.as_deref());
        let (mut from, mut until) = (0, 0);
        if let Some(summarised) = &self.summarised {
            projection.push(&Item::system_message(summarised.text.as_str()));
            (from, until) = (summarised.tail, summarised.until);
        }
        let end = self.asking.as_ref().map_or(usize::MAX, |asking| asking.items);
        self.history.each(|index, item| {
            let old_reminder = index < until && item.kind() == ItemKind::TaskReminder;
            if (from..end).contains(&index) && !old_reminder {
                projection.push(item);
            }
        });
        if let Some(asking) = &self.asking {
            projection.push(&asking.prompt);
        }
        self.projection = projection;
    }
}

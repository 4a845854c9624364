use std::sync::Arc;

use super::{History, Journal, LearnedDialect};
use crate::{
    Item, ToolCall,
    interceptor::Interceptor,
    wire::{Dialect, Projection},
};

/// Everything that takes in a committed item, in one piece: no await lies between, so a dropped turn cannot tear it.
pub(super) struct Log {
    pub(super) history: History,
    pub(super) interceptors: Vec<Arc<dyn Interceptor>>,
    pub(super) journal: Arc<dyn Journal>,
    pub(super) turn: u64,
    instructions: Option<String>,
    projection: Projection,
}

impl Log {
    /// A log that goes on from these items, which are in the journal already.
    pub(super) fn resumed(
        dialect: Dialect,
        instructions: Option<String>,
        journal: Arc<dyn Journal>,
        interceptors: Vec<Arc<dyn Interceptor>>,
        items: Vec<Item>,
        turn: u64,
    ) -> Self {
        let projection = Projection::new(dialect, instructions.as_deref());
        let mut log = Self { history: History::default(), interceptors, journal, turn, instructions, projection };
        items.into_iter().for_each(|item| log.take_in(item));
        log
    }

    /// Commits an item at the tail of the history.
    pub(super) fn commit(&mut self, item: Item) {
        self.journal.commit(&item, self.turn);
        self.take_in(item);
    }

    /// Makes what is committed durable.
    pub(super) async fn flush(&self) -> Result<(), super::TurnError> {
        self.journal.flush().await.map_err(super::TurnError::Journal)
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
        let mut projection = Projection::new(learned.dialect.clone(), self.instructions.as_deref());
        self.history.each(|item| projection.push(item));
        let texts = |projection: &Projection| -> Vec<String> {
            projection.messages().iter().map(|message| message.get().to_owned()).collect()
        };
        let same_rest = learned.dialect.stream_usage == self.projection.dialect().stream_usage;
        if same_rest && texts(&projection) == texts(&self.projection) {
            return false;
        }
        self.projection = projection;
        self.journal.dialect(learned);
        true
    }

    fn take_in(&mut self, item: Item) {
        self.projection.push(&item);
        for interceptor in &self.interceptors {
            interceptor.on_commit(&item);
        }
        self.history.push(item);
    }
}

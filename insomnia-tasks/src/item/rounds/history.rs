use super::{
    ids::Ids,
    round::{Round, Slot},
};
use crate::item::{Item, ItemKind, ToolCall};

/// Pairs the results of a history with their calls, as the projection does on the wire.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    ids: Ids,
    round: Round,
}

impl Rounds {
    /// What these items leave.
    #[cfg(feature = "client")]
    pub(crate) fn of(items: &[Item]) -> Self {
        let mut rounds = Self::default();
        for item in items {
            rounds.push(item);
        }
        rounds
    }

    /// Takes in the next item; the call that it answers, if it is the result of one.
    pub(crate) fn push(&mut self, item: &Item) -> Option<ToolCall> {
        match item.kind() {
            ItemKind::Assistant => {
                let calls = item.tool_calls().into_iter().map(|call| self.slot(call));
                self.round = Round::new(calls.collect());
                None
            }
            ItemKind::Tool => self.round.answer(item.tool_call_id().as_deref(), None).cloned(),
            _ => {
                self.round = Round::default();
                None
            }
        }
    }

    fn slot(&mut self, call: ToolCall) -> Slot {
        let id = self.ids.assign(call.id.clone());
        Slot { call: ToolCall { id: id.canonical.clone(), ..call }, id, answered: false }
    }
}

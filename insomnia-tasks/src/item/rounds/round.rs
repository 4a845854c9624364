use super::ids::{CallId, is_minted_form};
use crate::item::ToolCall;

/// The calls of the last assistant message and which of them are answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    slots: Vec<Slot>,
}

/// One call of a round.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// The call with the id that it has on the wire.
    pub(crate) call: ToolCall,
    /// Every id that a stored result of it may carry.
    pub(crate) id: CallId,
    pub(crate) answered: bool,
}

impl Round {
    pub(crate) fn new(slots: Vec<Slot>) -> Self {
        Self { slots }
    }

    /// All calls, in order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.slots.iter().map(|slot| &slot.call)
    }

    /// The calls without a result, in order.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.slots.iter().filter(|slot| !slot.answered).map(|slot| &slot.call)
    }

    /// Takes a result in and returns the call that it answers; `None` where it belongs to no open call.
    ///
    /// An id counts as the call's own if it is the one on the wire, the canonical, the mapped or the given one, tried in
    /// this order. A result without an id belongs to the first open call (of the named function, if it names one). So
    /// does one whose id was made for an earlier form of this history, such as before a compaction: it has the form
    /// of the made ones and is no id of this round.
    pub(crate) fn answer(&mut self, id: Option<&str>, name: Option<&str>) -> Option<&ToolCall> {
        let id = id.unwrap_or_default();
        let mut place = if id.is_empty() { None } else { self.find_open(id) };
        let unknown = !self.slots.iter().any(|slot| slot.answers_to(id));
        if place.is_none() && (id.is_empty() || (is_minted_form(id) && unknown)) {
            let mut open = self.slots.iter().enumerate().filter(|(_, slot)| !slot.answered);
            place = open.find(|(_, slot)| name.is_none_or(|name| slot.call.name == name)).map(|(place, _)| place);
        }
        let slot = self.slots.get_mut(place?)?;
        slot.answered = true;
        Some(&slot.call)
    }

    fn find_open(&self, id: &str) -> Option<usize> {
        let forms: [fn(&Slot) -> &str; 4] =
            [|slot| &slot.call.id, |slot| &slot.id.canonical, |slot| &slot.id.mapped, |slot| &slot.id.given];
        forms.iter().find_map(|form| self.slots.iter().position(|slot| !slot.answered && form(slot) == id))
    }
}

impl Slot {
    fn answers_to(&self, id: &str) -> bool {
        [&self.call.id, &self.id.canonical, &self.id.mapped, &self.id.given].into_iter().any(|own| own == id)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::ids::Ids, *};

    fn round(given: &[&str]) -> Round {
        let mut ids = Ids::default();
        let slot = |(index, given): (usize, &&str)| {
            let id = ids.assign((*given).to_owned());
            let call = ToolCall { id: id.canonical.clone(), name: format!("t{index}"), arguments: "{}".to_owned() };
            Slot { call, id, answered: false }
        };
        Round::new(given.iter().enumerate().map(slot).collect())
    }

    fn answered(round: &mut Round, id: Option<&str>, name: Option<&str>) -> Option<String> {
        round.answer(id, name).map(|call| call.id.clone())
    }

    #[test]
    fn matches_any_form_of_the_id_once() {
        let mut round = round(&["a", "b", "a"]);
        let mapped = round.slots[1].id.mapped.clone();
        let third = round.slots[2].call.id.clone();
        assert_eq!(answered(&mut round, Some(&mapped), None).as_deref(), Some("b"));
        assert_eq!(round.answer(Some("b"), None), None);
        assert_eq!(answered(&mut round, Some("a"), None).as_deref(), Some("a"));
        assert_eq!(answered(&mut round, Some("a"), None), Some(third));
        assert_eq!(round.answer(Some("a"), None), None);
        assert_eq!(round.answer(None, None), None);
    }

    #[test]
    fn takes_results_without_a_usable_id_in_order() {
        let mut round = round(&["a", "b", "c", "d"]);
        assert_eq!(round.answer(Some("call_gone"), None), None);
        assert_eq!(answered(&mut round, Some("made00009"), None).as_deref(), Some("a"));
        assert_eq!(answered(&mut round, None, Some("t2")).as_deref(), Some("c"));
        assert_eq!(answered(&mut round, Some(""), None).as_deref(), Some("b"));
        assert_eq!(round.open_calls().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["d"]);
    }
}

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use serde_json::value::RawValue;

use super::{
    assistant::{self, Echo},
    content,
    edit::{Object, quote},
    settings::{Dialect, LateSystem},
};
use crate::item::{Ids, Item, ItemKind, Round, ToolCall};

/// The result that is sent for a call of which none is known: a crash or a cancel came between.
pub const INTERRUPTED: &str = "interrupted; may or may not have run";

/// What an alternating dialect puts before a prompt where the model's answer to what stands before it is missing.
const BRIDGE: &str = "(interrupted)";

/// The `messages` of a request, made from the history item by item.
///
/// A pure function of dialect, instructions and the items pushed so far: pushing a stored history again gives the same
/// bytes. Each request's messages begin with those of the request before it, byte for byte. Messages that need no change are
/// shared with their items, not copied.
///
/// What is made acceptable on the way:
///
/// - System messages after the start are placed as [`Dialect::late_system`] says. To merge, there must be a tool or user
///   message right before; after an assistant message, or at the very start, the text is sent as a `user` message.
/// - Where the server takes no system messages, those at the start are the beginning of the first user message.
/// - Every tool call has exactly one result right after its message, in the order of the calls. Calls without one are
///   answered with [`INTERRUPTED`] as soon as something else follows. Results without a call, second results and
///   those that come too late are left out.
/// - Every call has an id of its own, a type, and arguments that are a JSON object in a string. Entries that name no
///   function are left out.
/// - An assistant message with neither content nor calls is left out.
///
/// ```
/// use insomnia_tasks::{Item, wire::{Dialect, Projection}};
///
/// let mut projection = Projection::new(Dialect::default(), Some("Be brief."));
/// projection.push(&Item::user_message("hi"));
/// projection.push(&Item::task_reminder("<system-reminder>1 task is open</system-reminder>"));
/// let messages = projection.messages();
/// assert_eq!(messages.len(), 2);
/// assert_eq!(
///     messages[1].get(),
///     r#"{"role":"user","content":"hi\n\n<system-reminder>1 task is open</system-reminder>"}"#
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Projection {
    dialect: Dialect,
    messages: Vec<Arc<RawValue>>,
    round: Round,
    /// The results of the round so far, by the id of their call.
    results: HashMap<String, Arc<RawValue>>,
    ids: Ids,
    last: Option<Role>,
    /// Whether the last message may still grow: it stands in no answered request.
    growing: bool,
    /// Whether anything but system messages was pushed.
    started: bool,
    /// Whether the last message is a user message made of system messages only, which the first prompt joins.
    leading: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    System,
    User,
    Assistant,
    Tool,
}

impl Projection {
    /// The view of an empty history. `instructions` become the first system message, unless they are empty.
    pub fn new(dialect: Dialect, instructions: Option<&str>) -> Self {
        let mut projection = Self {
            dialect,
            messages: Vec::new(),
            round: Round::default(),
            results: HashMap::new(),
            ids: Ids::default(),
            last: None,
            growing: false,
            started: false,
            leading: false,
        };
        if let Some(instructions) = instructions.filter(|text| !text.is_empty()) {
            projection.push(&Item::system_message(instructions));
        }
        projection
    }

    /// Takes in the next item of the history.
    pub fn push(&mut self, item: &Item) {
        match item.kind() {
            ItemKind::System if !self.started => self.push_leading(item),
            ItemKind::User => self.push_user(self.without_refused(item.raw())),
            ItemKind::Assistant => self.push_assistant(item),
            ItemKind::Tool => self.push_result(item),
            ItemKind::System | ItemKind::TaskReminder | ItemKind::Notification => self.push_late(item),
        }
        self.started |= item.kind() != ItemKind::System;
    }

    /// The calls of the last assistant message that have no result yet, in order, with the ids that their results are to
    /// carry. Empty as soon as anything but results follows.
    pub fn open_calls(&self) -> Vec<ToolCall> {
        self.round.open_calls().cloned().collect()
    }

    /// What a request sent now would carry. Open calls are answered with [`INTERRUPTED`], in the returned messages only.
    pub fn messages(&self) -> Cow<'_, [Arc<RawValue>]> {
        let results = self.round_results();
        if results.is_empty() {
            return Cow::Borrowed(&self.messages);
        }
        Cow::Owned(self.messages.iter().cloned().chain(results).collect())
    }

    /// The dialect that this view is made for.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// A system message at the start. Where late ones are refused a second one is too, so it joins the first.
    fn push_leading(&mut self, item: &Item) {
        let joins = matches!(self.dialect.late_system, LateSystem::Merge | LateSystem::User);
        if self.leading || joins && self.last == Some(Role::System) {
            self.merge(item);
        } else if !self.dialect.system_role {
            let message = self.with_role(item, r#""user""#);
            self.add(message, Role::User);
            self.leading = true;
        } else {
            let message = self.as_system(item);
            self.add(message, Role::System);
        }
    }

    /// A user message. Where the answer to what stands before it is missing, an alternating dialect gets a stand-in for it: what
    /// was sent before stays as it is, which joining the messages would not allow.
    fn push_user(&mut self, message: Arc<RawValue>) {
        self.close_round();
        if self.leading {
            return self.join_leading(&message);
        }
        if self.dialect.alternate && matches!(self.last, Some(Role::User | Role::Tool)) {
            self.add(Item::assistant_message(BRIDGE).raw().clone(), Role::Assistant);
        }
        self.add(message, Role::User);
    }

    /// Puts the text of the system messages before the first prompt, whose fields stay.
    fn join_leading(&mut self, message: &Arc<RawValue>) {
        let leading = self.messages.pop();
        let leading = leading.as_ref().and_then(|leading| Object::parse(leading.get()));
        let joined = leading.zip(Object::parse(message.get())).map(|(leading, mut joined)| {
            let own = joined.get("content").unwrap_or("null");
            joined.set("content", content::append(leading.get("content"), own));
            joined.share(message)
        });
        self.add(joined.unwrap_or_else(|| message.clone()), Role::User);
    }

    fn push_assistant(&mut self, item: &Item) {
        self.close_round();
        let Echo { message, slots } = assistant::echo(item.raw(), &self.dialect, &mut self.ids);
        self.round = Round::new(slots);
        self.growing = false;
        if let Some(message) = message {
            self.add(message, Role::Assistant);
        }
    }

    fn push_result(&mut self, item: &Item) {
        let Some(mut result) = Object::parse(item.json()) else { return };
        let (given, name) = (result.get_string("tool_call_id"), result.get_string("name"));
        let answered = self.round.answer(given.as_deref(), name.as_deref());
        let Some(id) = answered.map(|call| call.id.clone()) else { return };
        if given.as_ref() != Some(&id) {
            result.set("tool_call_id", quote(&id));
        }
        result.set("role", r#""tool""#);
        assistant::drop_fields(&mut result, &self.dialect);
        self.results.insert(id, result.share(item.raw()));
        // a round that is answered needs no stand-ins, so a request can do without a list of its own
        if self.round.open_calls().next().is_none() {
            self.close_round();
        }
    }

    fn push_late(&mut self, item: &Item) {
        self.close_round();
        match self.dialect.late_system {
            LateSystem::System => {
                let message = self.as_system(item);
                self.add(message, Role::System);
            }
            LateSystem::Developer => {
                let message = self.with_role(item, r#""developer""#);
                self.add(message, Role::System);
            }
            LateSystem::Merge if self.growing => self.merge(item),
            LateSystem::Merge => self.push_user(self.with_role(item, r#""user""#)),
            // nobody but the host chooses this form, so it gets it, alternating or not
            LateSystem::User => {
                let message = self.with_role(item, r#""user""#);
                self.add(message, Role::User);
            }
        }
    }

    /// Answers what is still open, for good: something else follows.
    fn close_round(&mut self) {
        for result in self.round_results() {
            self.add(result, Role::Tool);
        }
        self.round = Round::default();
        self.results.clear();
    }

    /// One result for each call of the round, in the order of the calls.
    fn round_results(&self) -> Vec<Arc<RawValue>> {
        let result = |call: &ToolCall| self.results.get(&call.id).cloned().unwrap_or_else(|| interrupted(call));
        self.round.calls().map(result).collect()
    }

    fn add(&mut self, message: Arc<RawValue>, role: Role) {
        self.messages.push(message);
        self.last = Some(role);
        self.growing = matches!(role, Role::User | Role::Tool);
        self.leading = false;
    }

    /// Appends the item's text to the last message.
    fn merge(&mut self, item: &Item) {
        if let Some(text) = item.text().filter(|text| !text.is_empty()) {
            self.grow_last(&quote(&text));
        }
    }

    /// Appends content (its JSON text) to that of the last message.
    fn grow_last(&mut self, more: &str) {
        let Some(last) = self.messages.last_mut() else { return };
        let grown = Object::parse(last.get()).map(|mut message| {
            message.set("content", content::append(message.get("content"), more));
            message.share(last)
        });
        if let Some(grown) = grown {
            *last = grown;
        }
    }

    fn without_refused(&self, message: &Arc<RawValue>) -> Arc<RawValue> {
        if self.dialect.dropped_fields.is_empty() {
            return message.clone();
        }
        let Some(mut object) = Object::parse(message.get()) else { return message.clone() };
        assistant::drop_fields(&mut object, &self.dialect);
        object.share(message)
    }

    fn as_system(&self, item: &Item) -> Arc<RawValue> {
        let developer = Object::parse(item.json()).and_then(|message| message.get_string("role"));
        if developer.as_deref() == Some("developer") && !self.dialect.developer_role {
            return self.with_role(item, r#""system""#);
        }
        self.without_refused(item.raw())
    }

    fn with_role(&self, item: &Item, role: &str) -> Arc<RawValue> {
        let Some(mut message) = Object::parse(item.json()) else { return item.raw().clone() };
        message.set("role", role);
        assistant::drop_fields(&mut message, &self.dialect);
        message.share(item.raw())
    }
}

impl<'a> Extend<&'a Item> for Projection {
    fn extend<T: IntoIterator<Item = &'a Item>>(&mut self, items: T) {
        for item in items {
            self.push(item);
        }
    }
}

fn interrupted(call: &ToolCall) -> Arc<RawValue> {
    Item::tool_message(&call.id, INTERRUPTED).raw().clone()
}

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{answer::AnsweredCall, completeness::Completeness};
use crate::item::clean_name;
use crate::json::{Object, number, string, value};
use crate::tool::arguments::{MalformedArguments, split_arguments};

/// Puts tool calls together from the pieces of a stream.
///
/// Servers disagree about every field of a piece: indexes are missing, always 0, or change inside a call; ids are
/// missing, repeated or new in every piece; names come whole, split or repeated. So a piece is matched to a call by
/// what it brings, and fields other than the arguments are set once.
#[derive(Debug)]
pub(super) struct CallAssembler {
    tools: HashSet<String>,
    calls: Vec<OpenCall>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    completeness: Completeness,
    others: Map<String, Value>,
}

/// What one piece says; what it does not say is None.
struct Piece<'a> {
    index: Option<u64>,
    id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
    entry: Object<'a>,
}

/// What became of a piece.
pub(super) enum Added {
    /// It said nothing new to show.
    Nothing,
    /// The first arguments of a call came, so that its name is known.
    Begun(String),
    /// There are more calls than a sane answer has.
    TooMany,
}

/// More calls than this in one answer are a model in a loop.
pub(super) const MAX_CALLS: usize = 1024;

impl CallAssembler {
    pub(super) fn new(tools: HashSet<String>) -> Self {
        Self { tools, calls: Vec::new(), bytes: 0 }
    }

    /// How many bytes are kept, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes one entry of a delta's `tool_calls`, or a legacy `function_call`.
    pub(super) fn add(&mut self, entry: &str) -> Added {
        let Some(piece) = Piece::read(entry) else { return Added::Nothing };
        if piece.id.is_none() && piece.name.is_none() && piece.arguments.is_none() && self.calls.is_empty() {
            return Added::Nothing;
        }
        let at = match self.continued_by(&piece) {
            Some(at) => at,
            None if self.calls.len() == MAX_CALLS => return Added::TooMany,
            None => {
                self.calls.push(OpenCall { index: piece.index, ..OpenCall::default() });
                self.calls.len() - 1
            }
        };
        match self.calls.get_mut(at) {
            Some(call) => call.take(piece, &self.tools, &mut self.bytes),
            None => Added::Nothing,
        }
    }

    /// The call that a piece continues; None if it begins one.
    fn continued_by(&self, piece: &Piece<'_>) -> Option<usize> {
        let last = self.calls.len().checked_sub(1)?;
        let of_index = piece.index.and_then(|index| self.calls.iter().rposition(|call| call.index == Some(index)));
        if let Some(at) = of_index {
            return (!self.begins_anew(at, piece)).then_some(at);
        }
        let of_id = || self.calls.iter().rposition(|call| !call.id.is_empty() && Some(&call.id) == piece.id.as_ref());
        match (piece.index, &piece.name) {
            (_, None) if of_id().is_some() => of_id(),
            (Some(_), None) if piece.id.is_none() => Some(self.only_open().unwrap_or(last)),
            (Some(_), _) => None,
            (None, _) => (!self.begins_anew(last, piece) && !self.follows_whole(last, piece)).then_some(last),
        }
    }

    /// Whether a piece that points to a call cannot be a part of it.
    fn begins_anew(&self, at: usize, piece: &Piece<'_>) -> bool {
        let Some(call) = self.calls.get(at) else { return true };
        let Some(name) = &piece.name else { return false };
        let other_tool = *name != call.name && self.tools.contains(name) && self.tools.contains(&call.name);
        let other_id = piece.id.as_ref().is_some_and(|id| *id != call.id);
        other_tool || other_id && (!call.id.is_empty() || call.completeness.is_complete())
    }

    /// Whether a piece without an index brings a new id or name after arguments that are complete.
    fn follows_whole(&self, at: usize, piece: &Piece<'_>) -> bool {
        let Some(call) = self.calls.get(at) else { return true };
        let new_id = !call.id.is_empty() && piece.id.as_ref().is_some_and(|id| *id != call.id);
        let new_name = piece.name.as_ref().is_some_and(|name| *name != call.name);
        call.completeness.is_complete() && (new_id || new_name)
    }

    fn only_open(&self) -> Option<usize> {
        let mut open = self.calls.iter().enumerate().filter(|(_, call)| !call.completeness.is_complete());
        let (at, _) = open.next()?;
        open.next().is_none().then_some(at)
    }

    /// The calls and the `tool_calls` of the message, entry for entry. `cut` says that a limit ended the answer: then
    /// the last call is not to be run, whatever its arguments look like.
    pub(super) fn finish(self, cut: bool) -> (Vec<AnsweredCall>, Vec<Value>) {
        let named: Vec<_> = self.calls.into_iter().filter(|call| !clean_name(&call.name).is_empty()).collect();
        let count = named.len();
        let (mut calls, mut entries) = (Vec::new(), Vec::new());
        for (at, call) in named.into_iter().enumerate() {
            let arguments = match split_arguments(&call.arguments) {
                _ if cut && at + 1 == count => vec![Err(MalformedArguments::Truncated)],
                Ok(objects) => objects.into_iter().map(|object| Ok(object.into_owned())).collect(),
                Err(error) => vec![Err(error)],
            };
            let name = clean_name(&call.name);
            // only the first of several keeps the id and what else came with the call
            let (mut id, mut others) = (call.id.as_str(), call.others);
            for arguments in arguments {
                let echoed = arguments.as_deref().unwrap_or("{}");
                let function = json!({"name": name, "arguments": echoed});
                let mut entry = Map::new();
                entry.insert("id".to_owned(), id.into());
                entry.insert("type".to_owned(), "function".into());
                entry.insert("function".to_owned(), function);
                entry.append(&mut others);
                entries.push(Value::Object(entry));
                calls.push(AnsweredCall { id: std::mem::take(&mut id).to_owned(), name: name.to_owned(), arguments });
            }
        }
        (calls, entries)
    }
}

impl<'a> Piece<'a> {
    fn read(entry: &'a str) -> Option<Self> {
        let entry = Object::parse(entry)?;
        // some servers put name and arguments beside the id
        let nested = entry.object("function");
        let function = nested.as_ref().unwrap_or(&entry);
        let id = entry.get("id").map(|id| string(id).unwrap_or_else(|| id.to_owned()));
        let arguments = function.get("arguments").map(|json| string(json).unwrap_or_else(|| json.to_owned()));
        Some(Self {
            index: entry.get("index").and_then(number),
            id: id.filter(|id| !id.is_empty()),
            name: function.filled("name"),
            arguments: arguments.filter(|text| !text.is_empty()),
            entry,
        })
    }
}

impl OpenCall {
    fn take(&mut self, piece: Piece<'_>, tools: &HashSet<String>, bytes: &mut usize) -> Added {
        const READ: [&str; 6] = ["index", "id", "type", "function", "name", "arguments"];
        if let Some(id) = piece.id.filter(|_| self.id.is_empty()) {
            *bytes += id.len();
            self.id = id;
        }
        if let Some(name) = piece.name {
            let before = self.name.len();
            self.take_name(&name, tools);
            *bytes += self.name.len() - before;
        }
        for (key, json) in piece.entry.members() {
            if !READ.contains(&key) && !self.others.contains_key(key) && json != "null" {
                *bytes += json.len();
                self.others.extend(value(json).map(|value| (key.to_owned(), value)));
            }
        }
        let Some(arguments) = piece.arguments else { return Added::Nothing };
        let begins = self.arguments.is_empty();
        *bytes += arguments.len();
        self.completeness.read(&arguments);
        self.arguments.push_str(&arguments);
        let name = clean_name(&self.name);
        if begins && !name.is_empty() { Added::Begun(name.to_owned()) } else { Added::Nothing }
    }

    /// Names come whole, in parts, again with every piece, or longer with every piece.
    fn take_name(&mut self, name: &str, tools: &HashSet<String>) {
        if self.name.is_empty() {
            name.clone_into(&mut self.name);
        } else if name == self.name || !self.arguments.is_empty() || tools.contains(&self.name) {
        } else if name.starts_with(&self.name) && tools.contains(name) {
            name.clone_into(&mut self.name);
        } else {
            self.name.push_str(name);
        }
    }
}

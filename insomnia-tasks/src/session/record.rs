use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{digest::Sha256, ids, line};
use crate::{Item, wire::Usage};

/// The format version that this crate writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// The first record of a session; its place counts as `seq` 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// The session's id, a UUID of version 7.
    pub session: String,
    /// When the session was made, in milliseconds since 1970.
    pub created: u64,
    /// The session that this one was forked from.
    #[serde(default)]
    pub parent: Option<Parent>,
    /// The system prompt that the session began with.
    #[serde(default)]
    pub instructions: Option<String>,
}

impl Header {
    /// The header of a session that begins now.
    pub fn new(instructions: Option<String>) -> Self {
        Self { session: ids::uuid(), created: now_ms(), parent: None, instructions }
    }

    /// The header of a session that begins now with these records of this one.
    pub(super) fn forked(&self, entries: &[Entry]) -> Self {
        let seq = entries.last().map_or(0, |entry| entry.seq);
        let parent = Parent { session: self.session.clone(), seq, sha256: fingerprint(entries) };
        Self { parent: Some(parent), ..Self::new(self.instructions.clone()) }
    }
}

/// Where a fork comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The id of the parent session.
    pub session: String,
    /// The last entry of the parent that the fork shares.
    pub seq: u64,
    /// The SHA-256 of the shared part, in hex: of its entries as [`Entry::to_json`] writes them, each followed by a newline.
    pub sha256: String,
}

/// One record after the header.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The entry's number: 1, 2, 3 … without gaps.
    pub seq: u64,
    /// An id that no other entry of the session has.
    pub id: String,
    /// When the entry was made, in milliseconds since 1970.
    pub time: u64,
    /// The turn that the entry belongs to, from 1; 0 before the first.
    pub turn: u64,
    /// What the entry says.
    pub body: EntryBody,
    /// What the server counted for the request whose outcome this answer, or this compaction's summary, is; none for everything
    /// else, where the server said nothing, and in sessions of older versions. In a box, for a running session keeps its entries and
    /// most have none.
    pub usage: Option<Box<Usage>>,
}

/// What an [`Entry`] says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EntryBody {
    /// A message of the history.
    Item(Item),
    /// A task as the host or a person left it; there is no tool call for it.
    TaskEdit(Box<RawValue>),
    /// The host resumed with this system prompt in place of the one before.
    Instructions(String),
    /// What the server turned out to want on the wire.
    Dialect(Box<RawValue>),
    /// What is sent in place of the records before it, and their outcome: a [`Compact`](super::Compact) as JSON.
    Compact(Box<RawValue>),
    /// The records after this number are void.
    Rewind {
        /// The last record that counts, of those before this one; 0 for none.
        to_seq: u64,
    },
    /// A record that this version does not know, whole. It is kept and skipped.
    Unknown(Box<RawValue>),
}

impl Entry {
    /// An entry made now, with a fresh id.
    pub fn new(seq: u64, turn: u64, body: EntryBody) -> Self {
        Self { seq, id: ids::entry(), time: now_ms(), turn, body, usage: None }
    }

    /// The entry as one line of JSON. The message of an item stands in it byte for byte.
    ///
    /// # Errors
    /// [`RecordError::Json`] if JSON cannot express it; none is known.
    pub fn to_json(&self) -> Result<String, RecordError> {
        let mut out = Vec::new();
        line::write_entry(self, None, None, &mut out).map_err(RecordError::Json)?;
        String::from_utf8(out).map_err(|error| RecordError::Shape(error.to_string()))
    }

    /// Reads what [`Entry::to_json`] wrote.
    ///
    /// # Errors
    /// [`RecordError::Json`] if the text is no JSON, [`RecordError::Shape`] if it is no record.
    pub fn from_json(json: &str) -> Result<Self, RecordError> {
        line::read_entry(json.as_bytes()).map(|line| line.entry)
    }
}

/// Why a line is no [`Entry`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The line is not JSON, or not all of it is there.
    #[error("not a whole line of JSON: {0}")]
    Json(#[source] serde_json::Error),
    /// The line is JSON, but not a record.
    #[error("not a record of a session: {0}")]
    Shape(String),
}

fn fingerprint(entries: &[Entry]) -> String {
    let mut hash = Sha256::new();
    for line in entries.iter().filter_map(|entry| entry.to_json().ok()) {
        hash.update(line);
        hash.update("\n");
    }
    hash.finish()
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Entry;

    #[test]
    fn a_running_session_keeps_its_entries_so_they_are_small() {
        assert!(size_of::<Entry>() <= 96, "{}", size_of::<Entry>());
    }
}

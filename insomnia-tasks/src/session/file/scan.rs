//! Finds the records in a file, whatever state it was left in. It changes nothing.

use std::{collections::BTreeMap, io, ops::RangeInclusive};

use serde::Deserialize;

use super::{
    damage::Damage,
    disk::DiskFile,
    lines::{Lines, Place, trim_nul},
    tail::Start,
};
use crate::session::{
    line::{self, Batch, Blob, HEADER_START, HeaderLine},
    record::{Entry, EntryBody, Header, RecordError},
};

/// How the file ends when nothing is being written.
pub(super) const CLOSING: &[u8] = b"\n]\n";

/// What a file holds.
pub(super) struct Scan {
    pub(super) header: Header,
    pub(super) entries: Vec<Entry>,
    /// The batch that each entry was written in.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "copies to a database ask for it"))]
    pub(super) batches: Vec<Option<Batch>>,
    /// The entries, by index, whose messages are elsewhere.
    pub(super) blobs: Vec<(usize, Blob)>,
    pub(super) damage: Vec<Damage>,
    pub(super) next_seq: u64,
    /// Where the last line that is kept ends.
    pub(super) end: u64,
    pub(super) tail: Tail,
}

/// What stands behind the last line that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    Clean,
    /// No data, but not the closing line as it should be.
    Unclosed,
    Torn,
}

/// Why a file is no session.
#[derive(Debug)]
pub(super) enum NoSession {
    Io(io::Error),
    Foreign,
    DamagedHeader(String),
    Newer(u32),
}

/// Tells by the first bytes, at least 64 where there are so many, whether the file can be a session's.
pub(super) fn check_start(bytes: &[u8]) -> Result<(), NoSession> {
    let start = [b"[", HEADER_START].concat();
    let bytes = trim_nul(bytes);
    if bytes.starts_with(&start) {
        return Ok(());
    }
    // a session's file whose beginning was lost, as opposed to someone else's
    if start.starts_with(bytes) {
        return Err(NoSession::DamagedHeader("it is cut off".to_owned()));
    }
    Err(NoSession::Foreign)
}

/// Reads the first `limit` bytes of a file, a piece at a time: the header, and the rest from `start` on.
pub(super) fn scan(file: &dyn DiskFile, limit: u64, start: Option<Start>) -> Result<Scan, NoSession> {
    check_start(&file.read(limit.min(64)).map_err(NoSession::Io)?)?;
    let mut lines = Lines::new(file, 1, limit);
    let first = lines.next().map_err(NoSession::Io)?.ok_or(NoSession::Foreign)?;
    let header = match line::read_header(first.text) {
        Ok(HeaderLine::Header(header)) => header,
        Ok(HeaderLine::Newer(format)) => return Err(NoSession::Newer(format)),
        Err(error) => return Err(NoSession::DamagedHeader(error.to_string())),
    };

    let (mut entries, mut marks) = (Vec::new(), vec![Mark::new(first.place, 0, What::Odd(String::new()))]);
    let mut blobs = Vec::new();
    let (mut seq, mut last_entry, mut stop) = (0_u64, 0_u64, first.is_stop().then_some(first.place));
    let mut comma = first.comma;
    if let Some(start) = start {
        lines = Lines::new(file, start.offset, limit);
        (seq, last_entry, stop, comma) = (start.seq.saturating_sub(1), start.seq.saturating_sub(1), None, true);
    }
    while let Some(line) = lines.next().map_err(NoSession::Io)? {
        if line.text.is_empty() || line.text == b"]" {
            stop = line.is_stop().then_some(line.place).or(stop);
            continue;
        }
        if let Some(stop) = stop.take() {
            seq = seq.saturating_add(1);
            let reason = "`]` or NUL bytes before the end".to_owned();
            marks.push(Mark::new(stop, seq, What::Broken { reason, hole: true }));
        }
        let what = match line::read_entry(line.text) {
            Ok(read) if read.entry.seq <= last_entry => What::Odd(format!("`seq` {} again", read.entry.seq)),
            Ok(read) => {
                let missing = (read.entry.seq > seq.saturating_add(1)).then(|| seq + 1..=read.entry.seq - 1);
                last_entry = read.entry.seq;
                blobs.extend(read.blob.map(|blob| (entries.len(), blob)));
                entries.push(read.entry);
                What::Entry { batch: read.batch, missing, joined: comma }
            }
            Err(RecordError::Shape(reason)) => What::Odd(reason),
            Err(RecordError::Json(error)) => What::Broken { reason: error.to_string(), hole: line.is_hole() },
        };
        seq = if matches!(what, What::Entry { .. }) { last_entry } else { seq.saturating_add(1) };
        comma = line.comma || matches!(what, What::Broken { .. });
        marks.push(Mark::new(line.place, seq, what));
        stop = line.is_stop().then_some(line.place);
    }

    marks.truncate(count_kept(&marks));
    let (end, next_seq) = marks.last().map_or((0, 1), |mark| (mark.place.end, mark.seq.saturating_add(1)));
    let batch = |mark: &Mark| match mark.what {
        What::Entry { batch, .. } => Some(batch),
        _ => None,
    };
    let batches: Vec<_> = marks.iter().filter_map(batch).collect();
    entries.truncate(batches.len());
    blobs.retain(|(index, _)| *index < entries.len());
    let behind = file.read_at(end, limit - end).map_err(NoSession::Io)?;
    let tail = match behind.as_slice() {
        CLOSING => Tail::Clean,
        tail if tail.iter().all(|byte| b" \t\r\n,]".contains(byte)) => Tail::Unclosed,
        _ => Tail::Torn,
    };
    let mut damage: Vec<_> = marks.into_iter().skip(1).filter_map(Mark::into_damage).collect();
    damage.extend(unknown_kinds(&entries, &blobs));
    if tail == Tail::Torn {
        damage.push(Damage::TornTail { bytes: behind.len() as u64, kept_in: None });
    }
    Ok(Scan { header, entries, batches, blobs, damage, next_seq, end, tail })
}

/// Tells once of each kind that is not known.
fn unknown_kinds(entries: &[Entry], blobs: &[(usize, Blob)]) -> impl Iterator<Item = Damage> {
    #[derive(Deserialize)]
    struct Kind {
        record: String,
    }
    let mut kinds = BTreeMap::<String, usize>::new();
    for (index, entry) in entries.iter().enumerate() {
        // until its message is fetched, an item looks like one of them
        if let EntryBody::Unknown(whole) = &entry.body
            && blobs.binary_search_by_key(&index, |(index, _)| *index).is_err()
            && let Ok(Kind { record }) = serde_json::from_str(whole.get())
        {
            *kinds.entry(record).or_default() += 1;
        }
    }
    kinds.into_iter().map(|(kind, count)| Damage::UnknownKind { kind, count })
}

/// How many lines stay: up to the last whole one, without a last batch of which something is missing.
fn count_kept(mut marks: &[Mark]) -> usize {
    loop {
        let whole = marks.iter().rposition(|mark| !matches!(mark.what, What::Broken { .. })).map_or(0, |last| last + 1);
        marks = marks.get(..whole).unwrap_or_default();
        let last_entry = marks.iter().enumerate().rev().find_map(|(at, mark)| match &mark.what {
            What::Entry { batch, joined, .. } => Some((at, *batch, *joined)),
            _ => None,
        });
        let batch_at = match last_entry {
            Some((_, Some([first, _]), _)) => marks.iter().rposition(|mark| mark.seq < first).map_or(0, |at| at + 1),
            Some((at, None, false)) => at,
            _ => return whole,
        };
        let (before, batch) = marks.split_at(batch_at);
        let reached = batch.last().is_some_and(|mark| match last_entry {
            Some((_, Some([_, last]), _)) => mark.seq >= last,
            _ => true,
        });
        // a line that was damaged later is no hole, and stays
        let hole = batch
            .iter()
            .any(|mark| matches!(mark.what, What::Broken { hole: true, .. } | What::Entry { joined: false, .. }));
        if reached && !hole {
            return whole;
        }
        marks = before;
    }
}

/// One line that is neither empty nor the closing bracket.
struct Mark {
    place: Place,
    /// Its own number, or the one that it must have had.
    seq: u64,
    what: What,
}

enum What {
    Entry {
        batch: Option<Batch>,
        missing: Option<RangeInclusive<u64>>,
        /// Whether there is a comma before it, or a line of which that is not known.
        joined: bool,
    },
    /// Whole JSON, but no entry.
    Odd(String),
    /// Not whole JSON. A hole is what a write leaves that never came to its end.
    Broken { reason: String, hole: bool },
}

impl Mark {
    fn new(place: Place, seq: u64, what: What) -> Self {
        Self { place, seq, what }
    }

    fn into_damage(self) -> Option<Damage> {
        let line = self.place.number;
        match self.what {
            What::Entry { missing, .. } => missing.map(|missing| Damage::Gap { line, missing }),
            What::Odd(reason) | What::Broken { reason, .. } => Some(Damage::Line { line, reason }),
        }
    }
}

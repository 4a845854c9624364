//! Finds where a compacted session's file has to be read from, so that going on costs no look at what was summarised.

use std::io;

use super::{disk::DiskFile, lines::Lines};
use crate::session::{Compact, line};

/// How far back a compaction is searched for. One that is further away saves too little.
const FARTHEST: u64 = 16 * 1024 * 1024;

const PIECE: u64 = 256 * 1024;

/// A place in a file from which on it can be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// Where the line begins.
    pub(super) offset: u64,
    /// The number of its record.
    pub(super) seq: u64,
}

/// Where the tail of the newest compaction begins; none if there is no compaction near the end. Whether the compaction counts
/// shows only when the file is read, see [`suffices`](crate::session::branch::suffices).
pub(super) fn find_start(file: &dyn DiskFile, length: u64) -> io::Result<Option<Start>> {
    let nearest = length.saturating_sub(FARTHEST);
    let Some(at) = find_line(file, b"{\"record\":\"compact\",", nearest, length)? else { return Ok(None) };
    let mut lines = Lines::new(file, at, length);
    let Some(line) = lines.next()? else { return Ok(None) };
    let Ok(read) = line::read_entry(line.text) else { return Ok(None) };
    let Some(compact) = Compact::read(&read.entry) else { return Ok(None) };
    let seq = compact.tail_from;
    if seq == read.entry.seq {
        return Ok(Some(Start { offset: at, seq }));
    }
    let offset = find_line(file, format!("{{\"record\":\"item\",\"seq\":{seq},").as_bytes(), nearest, at)?;
    Ok(offset.map(|offset| Start { offset, seq }))
}

/// The last line between two places that begins like this.
fn find_line(file: &dyn DiskFile, beginning: &[u8], from: u64, to: u64) -> io::Result<Option<u64>> {
    let mut end = to;
    while end > from {
        let offset = end.saturating_sub(PIECE).max(from);
        // so that a beginning that is cut by the piece's end is seen whole
        let bytes = file.read_at(offset, end - offset + beginning.len() as u64)?;
        let mut before = usize::try_from(end - offset).unwrap_or(usize::MAX).min(bytes.len());
        while let Some(newline) = bytes.get(..before).and_then(|part| part.iter().rposition(|byte| *byte == b'\n')) {
            if bytes.get(newline + 1..).is_some_and(|line| line.starts_with(beginning)) {
                return Ok(Some(offset + newline as u64 + 1));
            }
            before = newline;
        }
        end = offset;
    }
    Ok(None)
}

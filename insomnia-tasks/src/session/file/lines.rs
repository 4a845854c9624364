use std::io::{self, BufRead};

use super::disk::DiskFile;

/// How much is read at once.
const PIECE: u64 = 512 * 1024;

/// The lines of a file, without the comma, the whitespace and the NUL bytes around them.
pub(super) struct Lines<'a> {
    file: &'a dyn DiskFile,
    /// Where reading ends.
    limit: u64,
    buffer: Vec<u8>,
    /// Where the next line begins in the buffer.
    at: usize,
    /// Where the buffer begins in the file.
    offset: u64,
    number: usize,
}

pub(super) struct Line<'a> {
    pub(super) place: Place,
    pub(super) text: &'a [u8],
    /// NUL bytes follow the text.
    nul: bool,
    /// A comma follows the text.
    pub(super) comma: bool,
    /// The bracket that once closed the array follows the comma.
    closed: bool,
}

/// Where a line is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// From 1.
    pub(super) number: usize,
    /// Where its text ends in the file.
    pub(super) end: u64,
}

impl<'a> Lines<'a> {
    /// The lines between two places in a file.
    pub(super) fn new(file: &'a dyn DiskFile, from: u64, limit: u64) -> Self {
        Self { file, limit, buffer: Vec::new(), at: 0, offset: from, number: 0 }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let length = self.find_end()?;
        if length == 0 {
            return Ok(None);
        }
        let from = self.offset + self.at as u64;
        let line = self.buffer.get(self.at..self.at + length).unwrap_or_default().trim_ascii_end();
        self.at += length;
        self.number += 1;
        let text = trim_nul(line);
        let (nul, text) = (text.len() < line.len(), text.trim_ascii_end());
        // the comma may be on the disk before the line break that belongs to it
        let unclosed = text.strip_suffix(b"]").map(<[u8]>::trim_ascii_end).filter(|text| text.ends_with(b","));
        let (closed, text) = (unclosed.is_some(), unclosed.unwrap_or(text));
        let (comma, text) = (text.ends_with(b","), text.strip_suffix(b",").unwrap_or(text).trim_ascii_end());
        let place = Place { number: self.number, end: from + text.len() as u64 };
        Ok(Some(Line { place, text: text.trim_ascii_start(), nul, comma, closed }))
    }

    /// How long the next line is, its line break included.
    fn find_end(&mut self) -> io::Result<usize> {
        let mut looked_at = self.at;
        loop {
            let mut rest = self.buffer.get(looked_at..).unwrap_or_default();
            let length = rest.skip_until(b'\n')?;
            let end = looked_at + length;
            if length > 0 && self.buffer.get(end - 1) == Some(&b'\n') {
                return Ok(end - self.at);
            }
            let read_to = self.offset + self.buffer.len() as u64;
            // a long line is read in ever larger pieces
            let wanted = PIECE.max((self.buffer.len() - self.at) as u64).min(self.limit.saturating_sub(read_to));
            let more = if wanted == 0 { Vec::new() } else { self.file.read_at(read_to, wanted)? };
            if more.is_empty() {
                return Ok(self.buffer.len() - self.at);
            }
            self.buffer.drain(..self.at);
            self.offset += self.at as u64;
            looked_at = self.buffer.len();
            self.at = 0;
            self.buffer.extend_from_slice(&more);
        }
    }
}

impl Line<'_> {
    /// Whether nothing that was acknowledged can follow.
    pub(super) fn is_stop(&self) -> bool {
        self.nul || self.closed || self.text == b"]"
    }

    /// Whether a write that never came to its end is why it cannot be read: blocks of it are missing, or the bytes of the old
    /// closing line are still there in place of its first ones.
    pub(super) fn is_hole(&self) -> bool {
        self.text.contains(&0) || self.text.starts_with(b"]") || self.text.starts_with(b"\"record\":")
    }
}

pub(super) fn trim_nul(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes.get(..length).unwrap_or_default()
}

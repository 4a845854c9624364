use std::{fmt, ops::RangeInclusive, path::PathBuf};

/// Something that was wrong with a file and could be lived with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// A line in the middle that is no record. It was skipped; its bytes are kept.
    Line {
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Records are missing before this line.
    Gap {
        /// The line's number, from 1.
        line: usize,
        /// The missing numbers.
        missing: RangeInclusive<u64>,
    },
    /// A large message, which is kept in a file of its own, cannot be read. Its record was skipped.
    Blob {
        /// The record's number.
        seq: u64,
        /// The message's file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Records of a kind that this version does not know, perhaps of a newer one. They are kept and passed over.
    UnknownKind {
        /// What the records call themselves.
        kind: String,
        /// How many there are.
        count: usize,
    },
    /// The file ended in a write that was never finished, and so never acknowledged.
    TornTail {
        /// The bytes of that write.
        bytes: u64,
        /// Where they are kept now; none if the file was only read.
        kept_in: Option<PathBuf>,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, reason } => write!(f, "line {line} was skipped: {reason}"),
            Self::Gap { line, missing } => {
                write!(f, "the records {} to {} are missing before line {line}", missing.start(), missing.end())
            }
            Self::Blob { seq, path, reason } => {
                write!(f, "record {seq} was skipped, for its message in `{}` cannot be read: {reason}", path.display())
            }
            Self::UnknownKind { kind, count } => write!(
                f,
                "{count} record(s) of the kind `{kind}`, which this version does not know, are kept and passed over; a newer version may read them"
            ),
            Self::TornTail { bytes: 1, kept_in: None } => write!(f, "the last byte is an unfinished write"),
            Self::TornTail { bytes, kept_in: None } => write!(f, "the last {bytes} bytes are an unfinished write"),
            Self::TornTail { bytes: 1, kept_in: Some(path) } => {
                write!(f, "the last byte was an unfinished write and is now in `{}`", path.display())
            }
            Self::TornTail { bytes, kept_in: Some(path) } => {
                write!(f, "the last {bytes} bytes were an unfinished write and are now in `{}`", path.display())
            }
        }
    }
}

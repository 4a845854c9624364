use std::collections::HashSet;

use super::{Compact, Entry, EntryBody};

/// The entries of a session that count, and those that do not: what a rewind left behind.
pub(super) struct Branch<'a> {
    /// In order, without rewinds. An entry whose id was there before is left out.
    pub(super) live: Vec<&'a Entry>,
    /// Whether a rewind made anything void.
    pub(super) rewound: bool,
}

impl<'a> Branch<'a> {
    pub(super) fn new(entries: &'a [Entry]) -> Self {
        let (mut live, mut rewound) = (Vec::<&Entry>::with_capacity(entries.len()), false);
        let mut ids = HashSet::with_capacity(entries.len());
        for entry in entries {
            match entry.body {
                EntryBody::Rewind { to_seq } if to_seq < entry.seq => {
                    while let Some(void) = live.pop_if(|last| last.seq > to_seq) {
                        ids.remove(void.id.as_str());
                        rewound = true;
                    }
                }
                EntryBody::Rewind { .. } => {}
                _ if entry.id.is_empty() || ids.insert(entry.id.as_str()) => live.push(entry),
                _ => {}
            }
        }
        Self { live, rewound }
    }

    /// The number of the last message of a turn, or of the turns before it if it has none; 0 for the session's beginning. A
    /// compaction right behind the message goes with it.
    pub(super) fn end_of_turn(&self, turn: u64) -> u64 {
        let ends = |entry: &&Entry| matches!(entry.body, EntryBody::Item(_)) && entry.turn <= turn;
        let Some(last) = self.live.iter().rposition(ends) else { return 0 };
        let behind = self.live.iter().skip(last + 1).take_while(|entry| matches!(entry.body, EntryBody::Compact(_)));
        self.live.iter().skip(last).take(1 + behind.count()).next_back().map_or(0, |entry| entry.seq)
    }
}

/// Whether the entries from this number on say all that is needed to go on: the newest compaction that counts, and its tail.
pub(super) fn suffices(from: u64, entries: &[Entry]) -> bool {
    let branch = Branch::new(entries);
    let compact = branch.live.iter().rev().find_map(|entry| Compact::read(entry));
    compact.is_some_and(|compact| compact.tail_from >= from)
}

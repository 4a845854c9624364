use std::{borrow::Borrow, fmt::Write};

use crate::task::{Task, TaskCounts};

/// The most bytes of a reminder.
pub const TEXT_LIMIT: usize = 1_000;

/// The most tasks that a reminder lists.
pub const TASKS_SHOWN: usize = 10;

/// The most characters of a subject that a reminder shows.
const SUBJECT_SHOWN: usize = 80;

const HEAD: &str = "<system-reminder>\nAutomatic note, it needs no answer. Open tasks:\n";
const TAIL: &str = "Record changed statuses with TaskUpdate. What the user wants comes first.\n</system-reminder>";

/// The reminder for these active tasks, of which the first [`TASKS_SHOWN`] are listed; `counts` tells how many there are.
///
/// At most [`TEXT_LIMIT`] bytes: long subjects are cut at 80 characters, and all of them further where that is not enough.
/// No subject can close the block or open another one.
pub fn reminder_text<T: Borrow<Task>>(active: &[T], counts: TaskCounts) -> String {
    let shown: Vec<&Task> = active.iter().take(TASKS_SHOWN).map(Borrow::borrow).collect();
    let total = counts.active();
    let mut rest = TAIL.to_owned();
    if total > shown.len() {
        rest = format!("{} of {total} shown, see TaskList.\n{TAIL}", shown.len());
    }
    let labels: Vec<_> = shown.iter().map(|task| format!("- {} [{}] ", task.taskid, task.status)).collect();
    let subjects: Vec<_> = shown.iter().map(|task| Subject::new(&task.subject)).collect();

    let fixed = HEAD.len() + rest.len() + labels.iter().map(|label| label.len() + 1).sum::<usize>();
    let room = TEXT_LIMIT.saturating_sub(fixed);
    let cap = fair_share(subjects.iter().map(|subject| subject.text.len()).collect(), room);

    let mut text = String::with_capacity(TEXT_LIMIT);
    text.push_str(HEAD);
    for (label, subject) in labels.iter().zip(&subjects) {
        let _ = writeln!(text, "{label}{}", subject.within(cap));
    }
    text.push_str(&rest);
    text
}

/// Takes a message's text apart into what stood there before a reminder was merged into it (nothing, if the reminder is all of
/// it) and the reminder; `None` where it ends with no reminder.
pub fn split_reminder(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end();
    let start = text.rfind(HEAD).filter(|_| text.ends_with(TAIL))?;
    let (own, reminder) = text.split_at(start);
    Some((own.trim_end(), reminder))
}

/// A task in one line, its subject made harmless and cut at 80 characters.
#[cfg(feature = "client")]
pub(crate) fn task_line(task: &Task) -> String {
    format!("- {} [{}] {}", task.taskid, task.status, Subject::new(&task.subject).text)
}

/// About how many tokens a text costs, at four bytes a token.
pub fn estimate_tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// The largest size to which all of these can be cut so that together they fit into the room.
fn fair_share(mut sizes: Vec<usize>, room: usize) -> usize {
    sizes.sort_unstable();
    let (mut room, mut left) = (room, sizes.len());
    for size in sizes {
        if size * left > room {
            return room / left;
        }
        room -= size;
        left -= 1;
    }
    usize::MAX
}

/// A subject made harmless, and where it may be cut.
struct Subject {
    text: String,
    ends: Vec<usize>,
}

const CUT: &str = "…";

impl Subject {
    fn new(subject: &str) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        let mut visible = subject.chars().filter_map(visible).peekable();
        while let Some(c) = visible.next() {
            if ends.len() + 1 == SUBJECT_SHOWN && visible.peek().is_some() {
                text.push_str(CUT);
                break;
            }
            match c {
                '&' => text.push_str("&amp;"),
                '<' => text.push_str("&lt;"),
                '>' => text.push_str("&gt;"),
                c => text.push(c),
            }
            ends.push(text.len());
        }
        Self { text, ends }
    }

    fn within(&self, cap: usize) -> String {
        if self.text.len() <= cap {
            return self.text.clone();
        }
        let fitting = self.ends.iter().rev().find(|end| **end + CUT.len() <= cap);
        format!("{}{}", &self.text[..fitting.copied().unwrap_or(0)], if cap < CUT.len() { "" } else { CUT })
    }
}

/// Line breaks and tabs become spaces; other control characters and invisible ones go.
fn visible(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(' '),
        c if c.is_control() || INVISIBLE.iter().any(|&(first, last)| (first..=last).contains(&c)) => None,
        c => Some(c),
    }
}

/// Characters that change how text is read without being seen: Unicode's format characters, fillers and selectors.
const INVISIBLE: &[(char, char)] = &[
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;

use std::{
    borrow::{Borrow, Cow},
    fmt::Write,
};

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
    let shown = || active.iter().take(TASKS_SHOWN).map(Borrow::borrow);
    let subjects: Vec<_> = shown().map(|task| harmless(&task.subject)).collect();
    let text = |cap: usize| {
        let mut text = String::with_capacity(TEXT_LIMIT);
        text.push_str(HEAD);
        for (task, subject) in shown().zip(&subjects) {
            let _ = writeln!(text, "- {} [{}] {}", task.taskid, task.status, within(subject, cap));
        }
        if counts.active() > subjects.len() {
            let _ = writeln!(text, "{} of {} shown, see TaskList.", subjects.len(), counts.active());
        }
        text.push_str(TAIL);
        text
    };
    let whole = text(usize::MAX);
    if whole.len() <= TEXT_LIMIT {
        return whole;
    }
    let sizes: Vec<_> = subjects.iter().map(|subject| subject.len()).collect();
    let rest = whole.len() - sizes.iter().sum::<usize>();
    text(fair_share(sizes, TEXT_LIMIT.saturating_sub(rest)))
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
    format!("- {} [{}] {}", task.taskid, task.status, harmless(&task.subject))
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

const CUT: &str = "…";

/// A subject of at most 80 characters that can neither close the block nor begin another line.
fn harmless(subject: &str) -> Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<' | b'>');
    if subject.len() <= SUBJECT_SHOWN && subject.bytes().all(plain) {
        return subject.into();
    }
    let (mut text, mut shown) = (String::new(), 0);
    let mut visible = subject.chars().filter_map(visible).peekable();
    while let Some(c) = visible.next() {
        shown += 1;
        if shown == SUBJECT_SHOWN && visible.peek().is_some() {
            text.push_str(CUT);
            break;
        }
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            c => text.push(c),
        }
    }
    text.into()
}

/// A harmless subject cut to so many bytes, between two characters.
fn within(subject: &str, cap: usize) -> Cow<'_, str> {
    if subject.len() <= cap {
        return subject.into();
    }
    let Some(room) = cap.checked_sub(CUT.len()) else { return "".into() };
    let end = (0..=room).rev().find(|end| subject.is_char_boundary(*end)).unwrap_or(0);
    let kept = &subject[..end];
    // an ampersand that is not closed begins a character that is not whole
    let kept = kept.rfind('&').filter(|at| !kept[*at..].contains(';')).map_or(kept, |at| &kept[..at]);
    format!("{kept}{CUT}").into()
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

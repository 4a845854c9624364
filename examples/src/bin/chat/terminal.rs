//! What reaches the terminal: nothing that a model or a server says can steer it, and a reader that has gone away ends nothing.

use std::{
    borrow::Cow,
    env,
    io::{self, ErrorKind, IsTerminal, Write, stdout},
    sync::{Mutex, MutexGuard, PoisonError},
};

use anstyle::{AnsiColor, Style};

use crate::failure::Failure;

pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const FAIL: Style = AnsiColor::Red.on_default();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();

/// Prints a line on stderr; colours only where they are wanted.
macro_rules! note {
    ($($text:tt)*) => { $crate::terminal::write_note(format_args!($($text)*)) };
}
pub(crate) use note;

pub(crate) fn write_note(line: std::fmt::Arguments<'_>) {
    // the macros of std and anstream panic when nothing can be written
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// Prints JSON on stdout, as it is or, where a person looks at it, with what could steer the terminal as `\u` escapes.
pub(crate) fn write_json(json: &str) {
    let json = if stdout().is_terminal() { escaped(json) } else { Cow::Borrowed(json) };
    write_text(&format!("{json}\n"));
}

/// Writes text on stdout as it is. A reader that has gone away ends nothing: the session goes on to be stored. What else goes
/// wrong is kept for [`unwritten`].
pub(crate) fn write_text(text: &str) {
    let mut out = stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = written.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    {
        // the lock on stdout is still held, so it is the first error that stays
        unwritten_error().get_or_insert(error);
    }
}

/// What has kept text from stdout since this was asked last.
pub(crate) fn unwritten() -> Result<(), Failure> {
    match unwritten_error().take() {
        Some(error) => Err(Failure::Turn(format!("cannot write to stdout: {error}"))),
        None => Ok(()),
    }
}

/// Of the process, as stdout is.
static UNWRITTEN: Mutex<Option<io::Error>> = Mutex::new(None);

fn unwritten_error() -> MutexGuard<'static, Option<io::Error>> {
    UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the terminal knows no escape sequences.
pub(crate) fn is_dumb() -> bool {
    if cfg!(windows) && anstyle_query::windows::enable_ansi_colors() == Some(false) {
        return true;
    }
    match env::var_os("TERM") {
        Some(term) => term.is_empty() || term == "dumb",
        // on Windows it is not usual
        None => cfg!(unix),
    }
}

/// A number of things, such as `1 turn` or `2 turns`.
pub(crate) fn counted(number: impl TryInto<u64>, thing: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Text without the characters that could steer a terminal or turn round what stands beside them.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !steers(*c)).collect()
}

/// At most so many characters, on one line.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let words: Vec<_> = text.split_whitespace().map(visible).filter(|word| !word.is_empty()).collect();
    let mut line = words.join(" ");
    if let Some((cut, _)) = line.char_indices().nth(limit) {
        line.truncate(cut);
        line.push('…');
    }
    line
}

fn escaped(json: &str) -> Cow<'_, str> {
    if !json.contains(|c| c != '\n' && steers(c)) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\n' => out.push(c),
            // all of them lie in the plane that one escape can name
            c if steers(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Controls of C0 and C1, separators of lines, and the characters that change the direction of text.
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\r\u{8}\u{202e}b\u{2066}\u{7f}";

    #[test]
    fn one_thing_is_no_more() {
        assert_eq!([0_u64, 1, 2].map(|number| counted(number, "turn")), ["0 turns", "1 turn", "2 turns"]);
    }

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(visible(HOSTILE), "a]0;x[2J31mb");
        assert_eq!(visible("tab\tline\nكلمة 👩‍👩‍👧 می‌خواهم"), "tab\tline\nكلمة 👩‍👩‍👧 می‌خواهم");
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line(" a\r\n\tb\u{2028}c ", 9), "a b c");
        assert_eq!(one_line("\u{1b}\u{1b} x", 9), "x");
        assert_eq!(one_line("äöü", 3), "äöü");
        assert_eq!(one_line("äöüß", 3), "äöü…");
    }

    #[test]
    fn escaped_json_says_the_same() {
        let json = serde_json::json!([HOSTILE]).to_string();
        let escaped = escaped(&json);
        assert!(!escaped.contains(steers), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap()[0], HOSTILE);
    }
}

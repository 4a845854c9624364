use std::borrow::Cow;

use maud::{Markup, html};
use unicode_width::UnicodeWidthChar;

use super::{entries::Call, markdown, model::Report};
use crate::terminal::steers;

/// How many bytes the page should have at most, so that it stays light whatever the session says.
const PAGE: usize = 4_500_000;
/// About what an entry and a call take beside their texts.
const ENTRY: usize = 200;
const CALL: usize = 140;
/// The least and the most bytes of the session's texts.
const TEXTS: (usize, usize) = (300_000, 2_600_000);

/// The most bytes of one answer as Markdown; what is longer is text.
const MARKDOWN: usize = 200_000;

/// Text with what cannot be seen, or would turn round what stands beside it, made visible; markup is maud's to escape.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    let odd = |c: char| !matches!(c, '\n' | '\t') && (steers(c) || matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{feff}'));
    if !text.contains(odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            // what an XML document may not hold has pictures of its own
            '\0'..='\u{1f}' if odd(c) => out.extend(char::from_u32(0x2400 + u32::from(c))),
            c if odd(c) => out.push_str(&format!("[U+{:04X}]", u32::from(c))),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// At most so many characters, on one line.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    // no more is looked at than can be shown
    let head: String = text.chars().take(limit * 2 + 1).collect();
    let line = head.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((cut, _)) => format!("{}…", visible(&line[..cut])),
        None if head.len() < text.len() => format!("{}…", visible(&line)),
        None => visible(&line).into_owned(),
    }
}

/// As much on one line as fits into this many columns, where some characters take two.
pub(super) fn fitting(text: &str, columns: usize) -> String {
    let line = one_line(text, columns);
    let mut width = 0;
    let over = line.char_indices().find(|(_, c)| {
        width += c.width().unwrap_or(0);
        width > columns + 1
    });
    over.map_or(line.clone(), |(at, _)| format!("{}…", line[..at].trim_end_matches('…')))
}

/// A number with its thousands apart.
pub(super) fn number(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// What is left of the page for the session's texts.
pub(super) struct Room {
    /// The most bytes of one text that stand open.
    at_once: usize,
    folded: usize,
}

impl Room {
    /// The room beside what is on the page already.
    pub(super) fn new(report: &Report, taken: usize) -> Self {
        let call = |call: &Call| CALL + call.name.len().min(64) + call.arguments.len().min(110);
        let calls: usize = report.entries.iter().flat_map(|entry| &entry.calls).map(call).sum();
        let texts = report.entries.iter().filter(|entry| !entry.text.is_empty()).count();
        let rest = PAGE.saturating_sub(taken + report.entries.len() * ENTRY + calls);
        Self::of(rest.clamp(TEXTS.0, TEXTS.1), texts)
    }

    /// Nearly half of the bytes are for the texts that stand open.
    pub(super) fn of(bytes: usize, texts: usize) -> Self {
        let open = bytes * 2 / 5;
        Self { at_once: (open / texts.max(1)).clamp(60, 2_000), folded: bytes - open }
    }

    /// A text: its beginning, and all of it folded if there is more.
    pub(super) fn text(&mut self, text: &str) -> Markup {
        if escaped_len(text) <= self.at_once {
            return html! { p.t { bdi { (visible(text)) } } };
        }
        html! {
            p.t { bdi { (visible(head(text, self.at_once))) "…" } }
            details {
                summary { "All " (number(text.len())) " bytes" }
                (self.whole(text, false))
            }
        }
    }

    /// An answer: as Markdown, where there is room for it.
    pub(super) fn answer(&mut self, text: &str) -> Markup {
        if let Some(whole) = markdown::render(text, self.at_once) {
            return html! { div.t.d dir="auto" { (whole) } };
        }
        if escaped_len(text) <= self.at_once {
            return self.text(text);
        }
        // less of it, for its tags take room too
        let Some(beginning) = markdown::render(&format!("{}…", head(text, self.at_once * 2 / 3)), self.at_once)
        else {
            return self.text(text);
        };
        let whole = markdown::render(text, self.folded.min(MARKDOWN));
        html! {
            div.t.d dir="auto" { (beginning) }
            details {
                summary { "All " (number(text.len())) " bytes" }
                @match whole {
                    Some(whole) => {
                        @let () = self.folded -= whole.0.len();
                        div.d dir="auto" { (whole) }
                    }
                    None => { (self.whole(text, false)) }
                }
            }
        }
    }

    /// A folded text, as far as there is room.
    pub(super) fn whole(&mut self, text: &str, arguments: bool) -> Markup {
        let part = head(text, self.folded);
        self.folded -= escaped_len(part).min(self.folded);
        html! {
            @if !part.is_empty() { pre class=[arguments.then_some("i")] { (visible(part)) } }
            // the style says the rest, for there may be many of these
            @if part.len() < text.len() { p.x { (number(text.len() - part.len())) " bytes more" } }
        }
    }
}

/// As many bytes from the beginning as stay within this many on the page.
fn head(text: &str, limit: usize) -> &str {
    let mut bytes = 0;
    let over = text.char_indices().find(|(_, c)| {
        bytes += cost(*c);
        bytes > limit
    });
    over.map_or(text, |(at, _)| &text[..at])
}

fn escaped_len(text: &str) -> usize {
    text.chars().map(cost).sum()
}

fn cost(c: char) -> usize {
    match c {
        '&' | '<' | '>' | '"' => 6,
        '\n' | '\t' | ' '..='~' => 1,
        c if steers(c) => 8,
        c => c.len_utf8(),
    }
}

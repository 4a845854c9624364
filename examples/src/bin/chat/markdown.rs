//! Markdown as lines for a terminal.

use anstyle::{AnsiColor, Effects, Style};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use textwrap::core::display_width;

use crate::terminal::DIM;

const CODE: Style = AnsiColor::Cyan.on_default();
const HEADING: Style = Style::new().bold().underline();

/// The lines of a text, none wider than `width` but code and words that cannot be broken. The text must be safe to print.
pub(crate) fn render(markdown: &str, width: usize) -> Vec<String> {
    let mut page = Page { width: width.max(10), ..Page::default() };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(markdown, options) {
        page.event(event);
    }
    page.lines
}

/// Where the part ends that what is still to come cannot change: before the last line that begins a block of its own.
#[derive(Default)]
pub(crate) struct Blocks {
    scanned: usize,
    fence: Option<(char, usize)>,
    blank: bool,
    begun: bool,
}

impl Blocks {
    /// The end of the finished part of a text that has grown.
    pub(crate) fn finished(&mut self, text: &str) -> usize {
        let mut finished = 0;
        loop {
            let rest = &text[self.scanned..];
            let end = rest.find('\n');
            let line = &rest[..end.unwrap_or(rest.len())];
            if self.blank && self.fence.is_none() && line.starts_with(|c: char| !c.is_whitespace()) {
                finished = self.scanned;
            }
            let Some(end) = end else { break };
            self.line(line);
            self.scanned += end + 1;
        }
        finished
    }

    fn line(&mut self, line: &str) {
        let text = line.trim();
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = mark.map_or(0, |mark| text.chars().take_while(|c| *c == mark).count());
        match (self.fence, mark) {
            (None, Some(mark)) if run >= 3 => self.fence = Some((mark, run)),
            (Some((open, length)), Some(mark)) if mark == open && run >= length && run == text.chars().count() => {
                self.fence = None;
            }
            _ => {}
        }
        self.blank = self.begun && text.is_empty();
        self.begun |= !text.is_empty();
    }

    /// Begins anew behind the finished part.
    pub(crate) fn cut(&mut self, finished: usize) {
        self.scanned -= finished;
    }
}

#[derive(Default)]
struct Page {
    width: usize,
    lines: Vec<String>,
    inline: String,
    styles: Vec<Style>,
    /// What stands before each line of the blocks that are open, innermost last: at the first line, and at others.
    margins: Vec<(Option<String>, String)>,
    lists: Vec<Option<u64>>,
    link: Option<(String, usize)>,
    code: bool,
    table: Option<Table>,
    /// Whether a blank line belongs before the next block.
    apart: bool,
}

#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

impl Page {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code => self.code_lines(&text),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.words(&text),
            Event::Code(code) => {
                self.styles.push(CODE);
                self.words(&code);
                self.styles.pop();
            }
            Event::SoftBreak => self.inline.push(' '),
            Event::HardBreak => self.inline.push('\n'),
            Event::Rule => {
                self.space();
                self.put(&format!("{DIM}{}{DIM:#}", "─".repeat(self.room().min(40))));
                self.apart = true;
            }
            Event::TaskListMarker(done) => self.inline.push_str(if done { "[x] " } else { "[ ] " }),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => self.words(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.space(),
            Tag::Heading { level, .. } => {
                self.space();
                self.styles.push(if level == HeadingLevel::H1 { HEADING } else { Style::new().bold() });
            }
            Tag::BlockQuote(_) => {
                self.space();
                self.apart = false;
                self.margins.push((None, format!("{DIM}│{DIM:#} ")));
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.space();
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                {
                    self.put(&format!("  {DIM}{language}{DIM:#}"));
                }
                self.code = true;
            }
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.space();
                }
                self.apart = false;
                self.lists.push(first);
            }
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                let rest = " ".repeat(display_width(&mark));
                self.margins.push((Some(mark), rest));
                self.apart = false;
            }
            Tag::Emphasis => self.styles.push(Style::new().italic()),
            Tag::Strong => self.styles.push(Style::new().bold()),
            Tag::Strikethrough => self.styles.push(Style::new().effects(Effects::STRIKETHROUGH)),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.inline.len()));
                self.styles.push(Style::new().underline());
            }
            Tag::Table(alignments) => {
                self.space();
                self.table = Some(Table { alignments, rows: Vec::new() });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::HtmlBlock => self.space(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.flush();
                self.apart = true;
            }
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.flush();
                self.apart = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.margins.pop();
                self.apart = true;
            }
            TagEnd::CodeBlock => {
                self.code = false;
                self.apart = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.apart = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                if let Some((Some(_), _)) = self.margins.last() {
                    // one without text
                    self.put("");
                }
                self.margins.pop();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                if let Some((url, from)) = self.link.take()
                    && !self.inline[from..].contains(&url)
                {
                    self.inline.push_str(&format!(" {DIM}({url}){DIM:#}"));
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    table.lines(self.room()).iter().for_each(|line| self.put(line));
                }
                self.apart = true;
            }
            _ => {}
        }
    }

    /// Adds text in the style of this place. Each word has its own style, so that a line can end behind any of them.
    fn words(&mut self, text: &str) {
        let style = self.styles.iter().fold(Style::new(), |all, style| {
            let all = all | style.get_effects();
            style.get_fg_color().map_or(all, |colour| all.fg_color(Some(colour)))
        });
        for piece in text.split_inclusive(char::is_whitespace) {
            let word = piece.trim_end_matches(char::is_whitespace);
            if !word.is_empty() {
                self.inline.push_str(&format!("{style}{word}{style:#}"));
            }
            self.inline.push_str(&piece[word.len()..]);
        }
    }

    fn code_lines(&mut self, text: &str) {
        for line in text.lines() {
            self.put(&format!("  {CODE}{line}{CODE:#}"));
        }
    }

    fn room(&self) -> usize {
        let margin: usize = self.margins.iter().map(|(_, rest)| display_width(rest)).sum();
        self.width.saturating_sub(margin).max(10)
    }

    fn space(&mut self) {
        if std::mem::take(&mut self.apart) {
            let margin: String = self.margins.iter().map(|(_, rest)| rest.as_str()).collect();
            self.lines.push(margin.trim_end().to_owned());
        }
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.inline);
        if text.trim().is_empty() {
            return;
        }
        for line in textwrap::wrap(text.trim(), self.room()) {
            self.put(&line);
        }
    }

    fn put(&mut self, line: &str) {
        let mut whole = String::new();
        for (first, rest) in &mut self.margins {
            whole.push_str(&first.take().unwrap_or_else(|| rest.clone()));
        }
        whole.push_str(line);
        self.lines.push(whole.trim_end().to_owned());
    }
}

impl Table {
    fn lines(&self, room: usize) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| display_width(cell)).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        if widths.iter().sum::<usize>() + 3 * columns.saturating_sub(1) > room {
            return self.list(room);
        }
        let mut lines = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            let cells: Vec<_> = widths.iter().enumerate().map(|(column, width)| self.cell(row, column, *width)).collect();
            lines.push(cells.join(&format!(" {DIM}│{DIM:#} ")));
            if number == 0 {
                let rules: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(format!("{DIM}{}{DIM:#}", rules.join("─┼─")));
            }
        }
        lines
    }

    fn cell(&self, row: &[String], column: usize, width: usize) -> String {
        let cell = row.get(column).map_or("", String::as_str);
        let left = match self.alignments.get(column) {
            Some(Alignment::Right) => width - display_width(cell),
            Some(Alignment::Center) => (width - display_width(cell)) / 2,
            _ => 0,
        };
        let right = width - display_width(cell) - left;
        format!("{}{cell}{}", " ".repeat(left), " ".repeat(right))
    }

    /// The rows one below the other, where they do not fit side by side.
    fn list(&self, room: usize) -> Vec<String> {
        let Some((head, rows)) = self.rows.split_first() else { return Vec::new() };
        let mut lines = Vec::new();
        for row in rows {
            for (name, cell) in head.iter().zip(row) {
                lines.extend(textwrap::wrap(&format!("{name}: {cell}"), room).iter().map(ToString::to_string));
            }
            lines.push(String::new());
        }
        lines.pop();
        lines
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use proptest::prelude::*;

    use super::*;

    fn plain(markdown: &str, width: usize) -> Vec<String> {
        render(markdown, width).iter().map(|line| strip_str(line).to_string()).collect()
    }

    #[test]
    fn blocks_are_apart_and_lines_fit() {
        let text = "# Plan\n\nSome **bold words** and `code` here, *long* enough to wrap.\n- one\n- two\n    1. deep\n    2. deeper\n\n> said\n> so\n\n```rust\nlet a = 2 * 3;\n\nend\n```\nlast\n\n---\n";
        let lines = [
            "Plan",
            "",
            "Some bold words and code",
            "here, long enough to wrap.",
            "",
            "• one",
            "• two",
            "  1. deep",
            "  2. deeper",
            "",
            "│ said so",
            "",
            "  rust",
            "  let a = 2 * 3;",
            "",
            "  end",
            "",
            "last",
            "",
            "──────────────────────────",
        ];
        assert_eq!(plain(text, 26), lines);
    }

    #[test]
    fn nothing_that_is_no_markup_is_lost() {
        assert_eq!(plain("2 * 3 * 4, snake_case_name, a < b && c > d, <tag>, 5*", 80), [
            "2 * 3 * 4, snake_case_name, a < b && c > d, <tag>, 5*"
        ]);
        assert_eq!(plain("[here](http://x.y) http://z", 80), ["here (http://x.y) http://z"]);
        assert_eq!(plain("- [x] done\n- [ ] open\n-\n", 80), ["• [x] done", "• [ ] open", "•"]);
    }

    #[test]
    fn tables_are_aligned_by_what_is_seen_or_become_lists() {
        let table = "| name | n |\n|---|--:|\n| 日本 | 1 |\n| **b** | 200 |\n";
        assert_eq!(plain(table, 40), ["name │   n", "─────┼────", "日本 │   1", "b    │ 200"]);
        let wide = format!("| name | what |\n|---|---|\n| a | {} |\n| b | c |\n", "word ".repeat(6));
        assert_eq!(plain(&wide, 20), ["name: a", "what: word word word", "word word word", "", "name: b", "what: c"]);
    }

    #[test]
    fn what_a_line_begins_in_a_style_it_ends() {
        let lines = render("**many bold words that do not fit into one line**", 14);
        assert!(lines.len() > 3);
        for line in lines {
            assert_eq!(line.matches("\u{1b}[1m").count(), line.matches("\u{1b}[0m").count(), "{line:?}");
        }
    }

    #[test]
    fn a_block_is_finished_when_another_begins() {
        let mut blocks = Blocks::default();
        let text = "one\ntwo\n\n```\na\n\nb\n```\n\n- x\n\n  more\n\nend";
        let mut seen = Vec::new();
        let mut from = 0;
        for end in 1..=text.len() {
            let finished = blocks.finished(&text[from..end]);
            if finished > 0 {
                seen.push(&text[from..from + finished]);
                blocks.cut(finished);
                from += finished;
            }
        }
        assert_eq!(seen, ["one\ntwo\n\n", "```\na\n\nb\n```\n\n", "- x\n\n  more\n\n"]);
        assert_eq!(&text[from..], "end");
    }

    proptest! {
        #[test]
        fn any_text_in_any_pieces_is_shown(text in "[a-z*_`#>|0-9.\\- \n日é]{0,200}", width in 1..60_usize, step in 1..9_usize) {
            let mut blocks = Blocks::default();
            let mut rest = String::new();
            let mut finished = String::new();
            for piece in text.chars().collect::<Vec<_>>().chunks(step) {
                rest.extend(piece);
                let end = blocks.finished(&rest);
                blocks.cut(end);
                finished.extend(rest.drain(..end));
                render(&rest, width);
            }
            prop_assert_eq!(finished + &rest, text);
        }
    }
}

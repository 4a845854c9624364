use anstyle::{AnsiColor, Style};
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

use super::{
    blocks::parser,
    table::Table,
    wrap::{Span, wrap},
};
use crate::terminal::visible;

const CODE: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();

/// One row of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// With styles where they are wanted.
    pub(super) text: String,
    /// How many characters of the answer stand in it, the same whatever the width.
    pub(super) content: usize,
}

/// Rows of at most `width` columns. Where there are no colours, the marks stay that they would stand for.
pub(super) fn render(source: &str, width: usize, colour: bool) -> Vec<Row> {
    let mut renderer = Renderer { width, colour, ..Renderer::default() };
    for event in parser(source) {
        renderer.event(event);
    }
    renderer.flush();
    renderer.definitions(source);
    renderer.rows
}

#[derive(Default)]
struct Renderer {
    width: usize,
    colour: bool,
    rows: Vec<Row>,
    /// The inline text of the block that is open.
    inline: Vec<Span>,
    styles: Vec<Style>,
    /// What begins the rows of the containers that are open.
    prefixes: Vec<Prefix>,
    /// The next number of each list that is open; none for bullets.
    lists: Vec<Option<u64>>,
    /// Whether an empty row stands before the next block.
    gap: bool,
    /// Where the links go that are open; an image may stand in one.
    links: Vec<String>,
    table: Option<Table>,
    code: Option<String>,
}

struct Prefix {
    /// For the first row only; then it is as wide, and empty.
    first: Option<String>,
    rest: String,
}

impl Renderer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.text(&text, Style::new()),
            },
            Event::Code(code) => {
                self.mark("`");
                self.text(&code, CODE);
                self.mark("`");
            }
            Event::Html(html) | Event::InlineHtml(html) => self.text(&html, DIM),
            Event::SoftBreak => self.text(" ", Style::new()),
            Event::HardBreak => self.text("\n", Style::new()),
            Event::Rule => {
                self.open();
                let line = "─".repeat(self.room().min(40));
                self.row(&[Span { text: line, style: DIM }]);
                self.gap = true;
            }
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }, Style::new()),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text, Style::new());
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.open();
                self.styles.push(Style::new().bold());
                self.text(&format!("{} ", "#".repeat(level as usize)), Style::new());
            }
            Tag::BlockQuote(_) => {
                self.open();
                let bar = self.styled("│ ", DIM);
                self.prefixes.push(Prefix { first: None, rest: bar });
            }
            Tag::CodeBlock(kind) => {
                self.open();
                self.code = Some(String::new());
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                {
                    let text = visible(&language).replace(['\n', '\t'], " ");
                    for row in wrap(&[Span { text, style: DIM }], self.room()) {
                        self.row(&row);
                    }
                }
            }
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => {
                self.open();
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number += 1;
                        marker
                    }
                    _ => "• ".to_owned(),
                };
                self.prefixes.push(Prefix { rest: " ".repeat(marker.width()), first: Some(marker) });
            }
            Tag::Table(_) => {
                self.open();
                self.table = Some(Table::default());
            }
            Tag::TableHead => {
                self.styles.push(Style::new().bold());
                self.next_table_row();
            }
            Tag::TableRow => self.next_table_row(),
            Tag::Emphasis => self.emphasis("*", Style::new().italic()),
            Tag::Strong => self.emphasis("**", Style::new().bold()),
            Tag::Strikethrough => self.emphasis("~~", Style::new().strikethrough()),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.styles.push(Style::new().underline());
                self.links.push(visible(&dest_url));
            }
            Tag::TableCell => {}
            _ => self.open(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
                self.gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.prefixes.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => {
                self.code_rows();
                self.gap = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                self.flush();
                // an item without text
                if self.prefixes.last().is_some_and(|prefix| prefix.first.is_some()) {
                    self.row(&[]);
                }
                self.prefixes.pop();
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    table.render(self.room()).iter().for_each(|row| self.row(row));
                }
                self.gap = true;
            }
            TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::TableRow => {}
            TagEnd::Emphasis => self.emphasis_end("*"),
            TagEnd::Strong => self.emphasis_end("**"),
            TagEnd::Strikethrough => self.emphasis_end("~~"),
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                let said = self.inline.last().map(|span| span.text.clone());
                if let Some(link) = self.links.pop().filter(|link| !link.is_empty() && said.as_ref() != Some(link)) {
                    self.text(&format!(" ({link})"), DIM);
                }
            }
            _ => {
                self.flush();
                self.gap = true;
            }
        }
    }

    /// What links refer to; those that stood before them were shown as they are written.
    fn definitions(&mut self, source: &str) {
        let parser = parser(source);
        let mut definitions: Vec<_> = parser.reference_definitions().iter().collect();
        definitions.sort_by_key(|(_, definition)| definition.span.start);
        for (label, definition) in definitions {
            self.text(&format!("[{label}]: {}", definition.dest), DIM);
            self.flush();
        }
    }

    fn next_table_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    fn emphasis(&mut self, mark: &str, style: Style) {
        self.mark(mark);
        self.styles.push(style);
    }

    fn emphasis_end(&mut self, mark: &str) {
        self.styles.pop();
        self.mark(mark);
    }

    /// Stands for a style that is not shown.
    fn mark(&mut self, mark: &str) {
        if !self.colour {
            self.text(mark, Style::new());
        }
    }

    /// References to characters are resolved by now: what could steer the terminal is taken out here.
    fn text(&mut self, text: &str, style: Style) {
        let text = visible(text).replace('\t', "    ");
        let style = self.styles.iter().fold(style, |style, outer| {
            let effects = style.get_effects() | outer.get_effects();
            style.effects(effects)
        });
        self.inline.push(Span { text, style });
    }

    fn code_rows(&mut self) {
        let code = visible(&self.code.take().unwrap_or_default()).replace('\t', "    ");
        for line in code.lines() {
            let mut rows = wrap(&[Span { text: line.to_owned(), style: CODE }], self.room().saturating_sub(2));
            if rows.is_empty() {
                rows.push(Vec::new());
            }
            for mut row in rows {
                row.insert(0, Span { text: "  ".to_owned(), style: Style::new() });
                self.row(&row);
            }
        }
    }

    /// Begins a block.
    fn open(&mut self) {
        self.flush();
        if std::mem::take(&mut self.gap) && !self.rows.is_empty() {
            let fresh: Vec<_> = self.prefixes.iter().filter(|prefix| prefix.first.is_none()).collect();
            let text = fresh.iter().map(|prefix| prefix.rest.as_str()).collect::<String>().trim_end().to_owned();
            self.rows.push(Row { text, content: 0 });
        }
    }

    /// Writes the inline text that has come.
    fn flush(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        for row in wrap(&inline, self.room()) {
            self.row(&row);
        }
    }

    fn room(&self) -> usize {
        let used: usize = self.prefixes.iter().map(|prefix| console::measure_text_width(&prefix.rest)).sum();
        // a narrow terminal and a deep list: some text must stand all the same
        self.width.saturating_sub(used).max(4.min(self.width)).max(1)
    }

    fn row(&mut self, spans: &[Span]) {
        let mut text = String::new();
        for prefix in &mut self.prefixes {
            text.push_str(&prefix.first.take().unwrap_or_else(|| prefix.rest.clone()));
        }
        for span in spans {
            text.push_str(&self.styled(&span.text, span.style));
        }
        let shown = spans.iter().flat_map(|span| span.text.chars());
        // how many lines a table has depends on the width
        let content = shown.filter(|c| !c.is_whitespace() && !"│─┼".contains(*c)).count();
        self.rows.push(Row { text, content });
    }

    fn styled(&self, text: &str, style: Style) -> String {
        if self.colour && !style.is_plain() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(source: &str, width: usize) -> String {
        render(source, width, false).into_iter().map(|row| row.text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn blocks_look_like_what_they_are() {
        assert_eq!(plain("# Head **line**\n\ntext\nmore  \nhard", 40), "# Head **line**\n\ntext more\nhard");
        assert_eq!(plain("- a\n  - b\n- c\n\n1. x\n2. y", 40), "• a\n  • b\n• c\n1. x\n2. y");
        assert_eq!(plain("- a\n\n  b\n\n- c", 40), "• a\n\n  b\n\n• c");
        assert_eq!(plain("> a\n>\n> b", 40), "│ a\n│\n│ b");
        assert_eq!(plain("```rust\nfn main() {\n\n\t1\n}\n```", 40), "rust\n  fn main() {\n  \n      1\n  }");
        assert_eq!(plain("`a` *b* ~~c~~ [d](http://e) <http://f>", 60), "`a` *b* ~~c~~ d (http://e) http://f");
        assert_eq!(plain("[![a](http://b)](http://c)", 60), "a (http://b) (http://c)");
        assert_eq!(plain("[a] [b]\n\n[a]: http://c", 60), "a (http://c) [b]\n[a]: http://c");
        assert_eq!(plain("[a]: http://b", 60), "[a]: http://b");
        assert_eq!(plain("- [x] a\n- [ ] b\n-", 60), "• [x] a\n• [ ] b\n• ");
        assert_eq!(plain("a\n\n---\n\n<b>x</b>", 5), "a\n\n─────\n\n<b>x<\n/b>");
    }

    #[test]
    fn a_table_fits() {
        let table = "|name|what|\n|-|-|\n|a|long words here|\n|漢字|x|";
        assert_eq!(plain(table, 40), "name │ what\n─────┼────────────────\na    │ long words here\n漢字 │ x");
        assert_eq!(plain(table, 13), "name │ what\n─────┼───────\na    │ long\n     │ words\n     │ here\n漢字 │ x");
        assert_eq!(plain("|a|b|c|\n|-|-|-|\n|1|2|3|", 5), "a\nb\nc\n1\n2\n3");
    }

    #[test]
    fn no_row_is_too_wide() {
        let source = "# A heading of some length\n\n1. item item 漢字かな交じり文\n   - deep `code of length` deep\n     > quote quote\n\n\
            ```\nvery long line of code that goes on\n```\n\n|a very wide head|another|\n|-|-|\n|x|y|\n";
        for width in 12..60 {
            for row in render(source, width, true) {
                assert!(console::measure_text_width(&row.text) <= width, "{width}: {}", row.text);
            }
        }
    }

    #[test]
    fn styles_are_shown_where_they_are_wanted() {
        let rows = render("**a `b`**", 40, true);
        assert_eq!(rows[0].text, "\u{1b}[1ma \u{1b}[0m\u{1b}[1m\u{1b}[36mb\u{1b}[0m");
        assert_eq!(rows[0].content, 2);
    }

    #[test]
    fn references_to_characters_steer_nothing() {
        for source in
            ["a&#27;[2Jb", "`a`&#x9b;31m", "[x](<&#27;]0;t&#7;>)", "```&#27;[2J\nx\n```", "# &#27;c", "|&#8;|\n|-|"]
        {
            let rows = plain(source, 40);
            assert!(!rows.contains(|c: char| c.is_control() && c != '\n'), "{rows:?}");
        }
    }
}

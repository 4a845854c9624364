use std::ops::Range;

use super::{
    blocks::blocks,
    render::{Row, render},
};

/// An answer as it comes: what cannot change any more is handed out once, the rest again and again.
#[derive(Default)]
pub(crate) struct Answer {
    /// From the block on that still grows.
    source: String,
    /// Whether a block stands before it.
    follows: bool,
    /// How many of its characters were handed out already, because there was no room for them.
    frozen: usize,
}

/// How wide rows may be and whether they may have colours.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) width: usize,
    pub(crate) colour: bool,
}

/// Rows that are final, and those that are not yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) done: Vec<String>,
    pub(crate) growing: Vec<String>,
}

impl Answer {
    pub(crate) fn push(&mut self, text: &str) {
        self.source.push_str(text);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.source.is_empty()
    }

    /// The rows that are due; at most `room` of them still grow.
    pub(crate) fn rows(&mut self, look: Look, room: usize) -> Rows {
        let blocks = blocks(&self.source);
        // half a line can look like the beginning of a block and turn out to go on with the one before
        let grows = |block: &Range<usize>| !self.source[block.clone()].contains('\n');
        let growing = if blocks.last().is_some_and(grows) { 2 } else { 1 };
        let settled = blocks.len().saturating_sub(growing);
        let (mut done, mut rest) = (Vec::new(), Vec::new());
        for (number, block) in blocks.iter().enumerate() {
            let rows = if number < settled { &mut done } else { &mut rest };
            if number > 0 || self.follows {
                rows.push(Row { text: String::new(), content: 0 });
            }
            rows.extend(render(&self.source[block.clone()], look.width, look.colour));
        }
        let (frozen, whole) = (self.frozen.saturating_sub(content(&done)), content(&rest));
        leave_out(&mut done, self.frozen);
        leave_out(&mut rest, frozen);
        if let Some(first) = blocks.get(settled).filter(|_| settled > 0) {
            self.source.drain(..first.start);
            self.follows = true;
        }
        let mut over = rest.len().saturating_sub(room);
        // what is frozen is told by its characters, and an empty row has none
        while over > 0 && rest[over - 1].content == 0 {
            over -= 1;
        }
        done.extend(rest.drain(..over));
        // at another width, what is left out may end within a row
        self.frozen = if over > 0 { whole - content(&rest) } else { frozen };
        Rows { done: texts(done), growing: texts(rest) }
    }

    /// The rest of the rows; what comes now is another answer.
    pub(crate) fn finish(&mut self, look: Look) -> Vec<String> {
        let mut rows = self.rows(look, usize::MAX);
        rows.done.append(&mut rows.growing);
        *self = Self::default();
        rows.done
    }
}

/// Takes away the rows of the first `frozen` characters, and the empty ones among them.
fn leave_out(rows: &mut Vec<Row>, frozen: usize) {
    let mut passed = 0;
    rows.retain(|row| {
        let before = passed;
        passed += row.content;
        before >= frozen || passed > frozen
    });
}

fn content(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.content).sum()
}

fn texts(rows: Vec<Row>) -> Vec<String> {
    rows.into_iter().map(|row| row.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Look = Look { width: 20, colour: false };
    const TEXT: &str = "# Head\n\nSome words of a paragraph that is *wrapped*.\n\n- one\n- two\n\n```\nlet a;\n\nlet b;\n```\n\n\
        |a|b|\n|-|-|\n|1|2|\n\n> end";

    /// What stands on the terminal after the text came in pieces of this size.
    fn streamed(size: usize, room: usize, widths: [usize; 2]) -> Vec<String> {
        let mut answer = Answer::default();
        let mut out = Vec::new();
        for (number, piece) in TEXT.as_bytes().chunks(size).enumerate() {
            answer.push(std::str::from_utf8(piece).unwrap());
            let rows = answer.rows(Look { width: widths[number % 2], ..LOOK }, room);
            assert!(rows.growing.len() <= room + 1, "{rows:?}");
            out.extend(rows.done);
        }
        out.extend(answer.finish(LOOK));
        out
    }

    #[test]
    fn pieces_make_the_whole() {
        let whole = streamed(TEXT.len(), 99, [20, 20]);
        assert_eq!(whole[..5], ["# Head", "", "Some words of a", "paragraph that is", "*wrapped*."]);
        for size in 1..30 {
            assert_eq!(streamed(size, 99, [20, 20]), whole, "{size}");
        }
    }

    #[test]
    fn text_shows_before_its_block_ends() {
        let mut answer = Answer::default();
        answer.push("one **two");
        assert_eq!(answer.rows(LOOK, 9).growing, ["one **two"]);
        answer.push("** three");
        assert_eq!(answer.rows(LOOK, 9), Rows { done: vec![], growing: vec!["one **two** three".to_owned()] });
    }

    #[test]
    fn nothing_is_lost_where_there_is_little_room_or_the_width_changes() {
        let words = |rows: Vec<String>| rows.concat().replace(char::is_whitespace, "");
        let mut long = Answer::default();
        let text = (0..40).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
        let mut out = Vec::new();
        for (number, word) in text.split_inclusive(' ').enumerate() {
            long.push(word);
            out.extend(long.rows(Look { width: 20, ..LOOK }, 2).done);
            assert!(number < 20 || !out.is_empty());
        }
        out.extend(long.finish(LOOK));
        assert_eq!(words(out), text.replace(' ', ""));
        // at another width a row may come twice, but none is left out
        let out = words(streamed(3, 1, [20, 11]));
        for word in ["Head", "Some", "paragraph", "*wrapped*.", "one", "two", "leta;", "letb;", "end"] {
            assert!(out.contains(word), "{word} in {out}");
        }
    }
}

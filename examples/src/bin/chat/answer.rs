//! An answer that comes in piece by piece, as Markdown.

use crate::markdown::{Blocks, render};

/// Lines are read with ease up to here.
const WIDEST: usize = 100;

/// What of an answer was not printed yet.
#[derive(Default)]
pub(crate) struct Answer {
    text: String,
    blocks: Blocks,
    /// Whether a block was printed already.
    begun: bool,
}

impl Answer {
    /// Adds a piece. It must be safe to print.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(&text.replace('\t', "    "));
    }

    /// Takes the blocks that nothing more can be added to, as lines.
    pub(crate) fn finished(&mut self, columns: usize) -> Vec<String> {
        let end = self.blocks.finished(&self.text);
        if end == 0 {
            return Vec::new();
        }
        self.blocks.cut(end);
        let finished: String = self.text.drain(..end).collect();
        self.lines(&finished, columns, true)
    }

    /// The last lines of the rest, at most so many. They may look different when more has come.
    pub(crate) fn open(&mut self, columns: usize, most: usize) -> Vec<String> {
        let rest = std::mem::take(&mut self.text);
        let mut lines = self.lines(&rest, columns, false);
        self.text = rest;
        lines.split_off(lines.len().saturating_sub(most))
    }

    /// Takes the rest as lines. What comes next is another answer.
    pub(crate) fn end(&mut self, columns: usize) -> Vec<String> {
        let rest = std::mem::take(&mut self.text);
        let lines = self.lines(&rest, columns, true);
        *self = Self::default();
        lines
    }

    fn lines(&mut self, text: &str, columns: usize, printed: bool) -> Vec<String> {
        let mut lines = render(text, columns.saturating_sub(1).min(WIDEST));
        if !lines.is_empty() {
            if self.begun {
                lines.insert(0, String::new());
            }
            self.begun |= printed;
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;

    #[test]
    fn blocks_are_taken_once_and_the_rest_at_the_end() {
        let mut answer = Answer::default();
        answer.push("one\n\n");
        assert_eq!((answer.finished(80).len(), answer.open(80, 9)), (0, vec!["one".to_owned()]));
        answer.push("- a\n- b\n- c");
        assert_eq!(answer.finished(80), ["one"]);
        assert_eq!(answer.open(80, 2), ["• b", "• c"]);
        assert_eq!(answer.open(80, 9), ["", "• a", "• b", "• c"]);
        assert_eq!(answer.end(80), ["", "• a", "• b", "• c"]);
        assert!(answer.end(80).is_empty());
        answer.push("new");
        assert_eq!(answer.end(80), ["new"]);
    }
}

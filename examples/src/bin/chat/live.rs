//! Lines at the bottom of the terminal that are drawn anew in place. What is printed stands above them and stays.

use std::io;

use console::{Term, measure_text_width, truncate_str};

/// Where a terminal does not tell its size.
const SIZE: (u16, u16) = (24, 80);

pub(crate) struct Live {
    term: Term,
    /// How wide each of the lines is that stand there.
    drawn: Vec<usize>,
}

impl Live {
    pub(crate) fn new() -> Self {
        Self { term: Term::buffered_stderr(), drawn: Vec::new() }
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> (usize, usize) {
        let known = self.term.size_checked().filter(|(rows, columns)| *rows > 0 && *columns > 0);
        let (rows, columns) = known.unwrap_or(SIZE);
        (columns.into(), rows.into())
    }

    /// Draws these lines in place of those that stand there, each cut to the terminal's width.
    pub(crate) fn draw(&mut self, lines: &[String]) {
        // a terminal that has gone away ends nothing: the session goes on to be stored
        let _ = self.try_draw(lines);
    }

    /// Takes the lines away; what is printed next stands where they were.
    pub(crate) fn erase(&mut self) {
        if !self.drawn.is_empty() {
            self.draw(&[]);
        }
    }

    fn try_draw(&mut self, lines: &[String]) -> io::Result<()> {
        let (columns, _) = self.size();
        let rows = rows(&self.drawn, columns);
        if rows > 0 {
            self.term.move_cursor_up(rows)?;
        }
        if rows > 0 || !self.drawn.is_empty() {
            self.term.write_str("\r")?;
            self.term.clear_to_end_of_screen()?;
        }
        self.drawn.clear();
        for line in lines {
            // the last column stays free: some terminals begin a new line there and some do not
            let line = truncate_str(line, columns.saturating_sub(1).max(1), "…");
            self.term.write_line(&line)?;
            self.drawn.push(measure_text_width(&line));
        }
        self.term.flush()
    }
}

/// How many rows lines of these widths take on a terminal that may have become narrower since.
fn rows(widths: &[usize], columns: usize) -> usize {
    widths.iter().map(|width| width.div_ceil(columns.max(1)).max(1)).sum()
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn a_line_takes_more_rows_when_the_terminal_becomes_narrower() {
        assert_eq!(rows(&[], 80), 0);
        assert_eq!(rows(&[0, 79], 80), 2);
        assert_eq!(rows(&[0, 79], 40), 3);
        assert_eq!(rows(&[80], 40), 2);
        assert_eq!(rows(&[81], 40), 3);
        assert_eq!(rows(&[5], 0), 5);
    }
}

use std::{
    env,
    io::{self, Write},
};

use console::{measure_text_width, truncate_str};

/// Rows at the bottom that are drawn again in place. What is written above them stays and scrolls away as usual.
pub(crate) struct Region<W> {
    out: W,
    /// The rows that are on the screen.
    drawn: Vec<String>,
    /// The screen's size when they were drawn.
    size: Size,
    /// Whether the terminal wraps what stands there anew when it gets narrower.
    reflows: bool,
}

/// A terminal's size in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl Region<Box<dyn Write + Send>> {
    pub(crate) fn new(out: Box<dyn Write + Send>) -> Self {
        // these two cut rows off instead, and say who they are
        let cuts = env::var_os("XTERM_VERSION").is_some() || env::var_os("STY").is_some();
        Self { out, drawn: Vec::new(), size: Size::default(), reflows: !cuts }
    }
}

impl<W: Write> Region<W> {
    /// Writes lines above the rows and the rows anew. A row is cut where the terminal ends, and those that find no room on it
    /// are left out from the top.
    pub(crate) fn draw(&mut self, above: &str, rows: &[String], size: Size) -> io::Result<()> {
        let room = size.rows.saturating_sub(1).max(1);
        let shown: Vec<_> = rows.iter().skip(rows.len().saturating_sub(room)).map(|row| fit(row, size)).collect();
        if above.is_empty() && self.drawn == shown && (self.size == size || shown.is_empty()) {
            return Ok(());
        }
        let mut frame = self.back_to_the_first(size);
        frame.push_str(above);
        frame.push_str(&shown.join("\n"));
        (self.drawn, self.size) = (shown, size);
        self.out.write_all(frame.as_bytes()).and_then(|()| self.out.flush())
    }

    fn back_to_the_first(&self, size: Size) -> String {
        let wrapped = |row: &String| measure_text_width(row).div_ceil(size.columns.max(1)).max(1);
        let height = |row| if self.reflows { wrapped(row) } else { 1 };
        let height: usize = self.drawn.iter().map(height).sum();
        match height.min(size.rows) {
            0 => String::new(),
            1 => "\r\u{1b}[J".to_owned(),
            more => format!("\r\u{1b}[{}A\u{1b}[J", more - 1),
        }
    }
}

/// A row that leaves the last column free: some terminals go to the next line with it.
pub(crate) fn fit(row: &str, size: Size) -> String {
    truncate_str(row, size.columns.saturating_sub(1).max(1), "…").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(frames: &[(&str, &[&str], usize)], reflows: bool) -> Vec<String> {
        let mut region = Region { out: Vec::new(), drawn: Vec::new(), size: Size::default(), reflows };
        for (above, rows, columns) in frames {
            region.out.clear();
            let rows: Vec<_> = rows.iter().map(|row| (*row).to_owned()).collect();
            region.draw(above, &rows, Size { columns: *columns, rows: 4 }).unwrap();
        }
        String::from_utf8(region.out).unwrap().split('\u{1b}').map(str::to_owned).collect()
    }

    #[test]
    fn rows_are_drawn_over_those_before() {
        assert_eq!(drawn(&[("", &["a", "b"], 9)], true), ["a\nb"]);
        assert_eq!(drawn(&[("", &["a", "b"], 9), ("x\n", &["c"], 9)], true), ["\r", "[1A", "[Jx\nc"]);
        assert_eq!(drawn(&[("", &["a"], 9), ("", &[], 9)], true), ["\r", "[J"]);
        assert_eq!(drawn(&[("", &[], 9)], true), [""]);
    }

    #[test]
    fn rows_fit_the_terminal() {
        assert_eq!(drawn(&[("", &["a", "b", "c", "d", "漢字漢字漢字"], 9)], true), ["c\nd\n漢字漢…"]);
    }

    #[test]
    fn a_narrower_terminal_has_wrapped_them_or_cut_them_off() {
        let frames: [(&str, &[&str], usize); 2] = [("", &["1234567", "12"], 9), ("", &["x"], 4)];
        assert_eq!(drawn(&frames, true)[1], "[2A");
        assert_eq!(drawn(&frames, false)[1], "[1A");
    }
}

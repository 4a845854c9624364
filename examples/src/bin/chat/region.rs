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
        // these two cut rows off instead, and say who they are; within tmux it is tmux that matters
        let is = |name| env::var_os(name).is_some();
        let cuts = (is("XTERM_VERSION") || is("STY")) && !is("TMUX");
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
        let mut frame;
        if above.is_empty() && self.size == size && self.drawn.len() == shown.len() {
            // from the first row that has changed on, without taking anything away before: that would flicker
            let same = self.drawn.iter().zip(&shown).take_while(|(before, now)| before == now).count();
            frame = up(shown.len() - same);
            frame.push_str(&rows_of(&shown[same..], "\u{1b}[K"));
        } else {
            frame = self.back_to_the_first(size);
            frame.push_str(above);
            frame.push_str(&rows_of(&shown, ""));
        }
        (self.drawn, self.size) = (shown, size);
        self.out.write_all(frame.as_bytes()).and_then(|()| self.out.flush())
    }

    fn back_to_the_first(&self, size: Size) -> String {
        let wrapped = |row: &String| measure_text_width(row).div_ceil(size.columns.max(1)).max(1);
        let height = |row| if self.reflows { wrapped(row) } else { 1 };
        let height: usize = self.drawn.iter().map(height).sum();
        match height.min(size.rows) {
            0 => String::new(),
            rows => up(rows) + "\u{1b}[J",
        }
    }

    /// Something else was written since: the rows are drawn anew where the cursor is.
    #[cfg(unix)]
    pub(crate) fn forget(&mut self) {
        self.drawn.clear();
    }
}

/// To the beginning of the first of so many rows, from the last one.
fn up(rows: usize) -> String {
    match rows {
        0 | 1 => "\r".to_owned(),
        more => format!("\r\u{1b}[{}A", more - 1),
    }
}

/// The rows with this after each. None is wrapped, also where the terminal takes a character for wider than it is here.
fn rows_of(rows: &[String], after: &str) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let rows: Vec<_> = rows.iter().map(|row| format!("{row}{after}")).collect();
    format!("\u{1b}[?7l{}\u{1b}[?7h", rows.join("\n"))
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
        let out = String::from_utf8(region.out).unwrap();
        out.replace("\u{1b}[?7l", "").replace("\u{1b}[?7h", "").split('\u{1b}').map(str::to_owned).collect()
    }

    #[test]
    fn rows_are_drawn_over_those_before() {
        assert_eq!(drawn(&[("", &["a", "b"], 9)], true), ["a\nb"]);
        assert_eq!(drawn(&[("", &["a", "b"], 9), ("x\n", &["c"], 9)], true), ["\r", "[1A", "[Jx\nc"]);
        assert_eq!(drawn(&[("", &["a"], 9), ("", &[], 9)], true), ["\r", "[J"]);
        assert_eq!(drawn(&[("", &[], 9)], true), [""]);
    }

    #[test]
    fn what_has_not_changed_is_not_drawn_again() {
        assert_eq!(drawn(&[("", &["a", "b"], 9), ("", &["a", "b"], 9)], true), [""]);
        assert_eq!(drawn(&[("", &["a", "b"], 9), ("", &["a", "c"], 9)], true), ["\rc", "[K"]);
        assert_eq!(drawn(&[("", &["a", "b"], 9), ("", &["c", "b"], 9)], true), ["\r", "[1Ac", "[K\nb", "[K"]);
    }

    #[test]
    fn rows_are_not_wrapped() {
        let size = Size { columns: 9, rows: 4 };
        let mut region = Region { out: Vec::new(), drawn: Vec::new(), size, reflows: true };
        region.draw("above\n", &["a".to_owned()], size).unwrap();
        assert_eq!(String::from_utf8(region.out).unwrap(), "above\n\u{1b}[?7la\u{1b}[?7h");
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

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::wrap::{Span, wrap};

const DIM: Style = Style::new().dimmed();
const BETWEEN: &str = " │ ";

/// A table's cells, the head first.
#[derive(Default)]
pub(super) struct Table {
    pub(super) rows: Vec<Vec<Vec<Span>>>,
}

impl Table {
    /// The table in at most `width` columns; cells are wrapped where it would be wider.
    pub(super) fn render(&self, width: usize) -> Vec<Vec<Span>> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let Some(room) = width.checked_sub(columns.saturating_sub(1) * BETWEEN.width()).filter(|room| *room >= columns)
        else {
            let cells = self.rows.iter().flat_map(|row| row.iter().flat_map(|cell| wrap(cell, width)));
            return cells.collect();
        };
        let widths = self.widths(columns, room);
        let mut out = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            out.extend(lines(row, &widths));
            if number == 0 {
                let line = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("─┼─");
                out.push(vec![Span { text: line, style: DIM }]);
            }
        }
        out
    }

    /// What the cells need, less where it is too much: the widest give first.
    fn widths(&self, columns: usize, room: usize) -> Vec<usize> {
        let needs = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max();
        let mut widths: Vec<_> = (0..columns).map(|column| needs(column).unwrap_or(0).clamp(1, room)).collect();
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = widths.iter_mut().max() else { break };
            *widest -= 1;
        }
        widths
    }
}

fn width(cell: &[Span]) -> usize {
    cell.iter().map(|span| span.text.width()).sum()
}

fn lines(row: &[Vec<Span>], widths: &[usize]) -> Vec<Vec<Span>> {
    let cells: Vec<_> = widths
        .iter()
        .enumerate()
        .map(|(column, width)| row.get(column).map_or_else(Vec::new, |cell| wrap(cell, *width)))
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let line = |number: usize| {
        let mut line = Vec::new();
        for (column, (cell, full)) in cells.iter().zip(widths).enumerate() {
            if column > 0 {
                line.push(Span { text: BETWEEN.to_owned(), style: DIM });
            }
            let part = cell.get(number).map_or(&[][..], Vec::as_slice);
            line.extend_from_slice(part);
            if column + 1 < widths.len() {
                let text = " ".repeat(full.saturating_sub(width(part)));
                line.push(Span { text, style: Style::new() });
            }
        }
        line
    };
    (0..height).map(line).collect()
}

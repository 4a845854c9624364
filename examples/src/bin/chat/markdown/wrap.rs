use std::ops::Range;

use anstyle::Style;
use unicode_linebreak::linebreaks;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Text of one style. It has no control characters but line breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) style: Style,
}

/// Breaks text into rows of at most `width` columns: where Unicode allows it, and within a word that is longer than a row.
pub(super) fn wrap(spans: &[Span], width: usize) -> Vec<Vec<Span>> {
    let text: String = spans.iter().map(|span| span.text.as_str()).collect();
    rows(&text, width.max(1)).into_iter().map(|row| cut(spans, &row)).collect()
}

fn rows(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (at, _) in linebreaks(text) {
        if start < end && text[start..at].trim_end().width() > width {
            rows.push(start..end);
            start = end;
        }
        // a word that is longer than a row
        while text[start..at].trim_end().width() > width {
            let cut = start + prefix(&text[start..at], width);
            rows.push(start..cut);
            start = cut;
        }
        end = at;
        if text[..at].ends_with('\n') {
            rows.push(start..end);
            start = end;
        }
    }
    if start < end {
        rows.push(start..end);
    }
    rows.into_iter().map(|row| row.start..row.start + text[row].trim_end().len()).collect()
}

/// How many bytes fit, but one character at least.
fn prefix(text: &str, width: usize) -> usize {
    let mut used = 0;
    let fits = text.grapheme_indices(true).skip(1).find(|(at, next)| {
        used = text[..*at].width();
        used + next.width() > width
    });
    fits.map_or(text.len(), |(at, _)| at)
}

fn cut(spans: &[Span], row: &Range<usize>) -> Vec<Span> {
    let mut at = 0;
    let mut cut = Vec::new();
    for span in spans {
        let (start, end) = (row.start.max(at), row.end.min(at + span.text.len()));
        if start < end {
            cut.push(Span { text: span.text[start - at..end - at].to_owned(), style: span.style });
        }
        at += span.text.len();
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, width: usize) -> Vec<String> {
        let rows = wrap(&[Span { text: text.to_owned(), style: Style::new() }], width);
        rows.into_iter().map(|row| row.into_iter().map(|span| span.text).collect()).collect()
    }

    #[test]
    fn rows_are_as_wide_as_they_look() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrapped("a\n\nb", 9), ["a", "", "b"]);
        assert_eq!(wrapped("漢字かな", 5), ["漢字", "かな"]);
        assert_eq!(wrapped("漢字", 1), ["漢", "字"]);
        assert_eq!(wrapped("👩‍👩‍👧👩‍👩‍👧", 3), ["👩‍👩‍👧", "👩‍👩‍👧"]);
        assert_eq!(wrapped("", 5), [""; 0]);
    }

    #[test]
    fn styles_go_over_breaks() {
        let bold = Style::new().bold();
        let span = |text: &str, style| Span { text: text.to_owned(), style };
        let rows = wrap(&[span("a ", Style::new()), span("bc de", bold)], 4);
        assert_eq!(rows, [vec![span("a ", Style::new()), span("bc", bold)], vec![span("de", bold)]]);
    }
}

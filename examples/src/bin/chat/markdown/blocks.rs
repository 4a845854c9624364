use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser};

/// What is understood beside CommonMark.
pub(crate) fn parser(source: &str) -> Parser<'_> {
    Parser::new_ext(source, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS)
}

/// The outermost blocks in whole lines. All but the last are as they will be, whatever comes after.
pub(super) fn blocks(source: &str) -> Vec<Range<usize>> {
    let mut starts = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in parser(source).into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            // an indented block's range leaves its indentation out
            let start = source[..range.start].rfind('\n').map_or(0, |line| line + 1);
            starts.push(start);
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([source.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_ends_where_the_next_begins() {
        let source = "# A\ntext\nmore\n\n- one\n- two\n\n    code of two\n\n***\n    x\n\n```\na\n\nb";
        let found: Vec<_> = blocks(source).into_iter().map(|range| source[range].trim_end()).collect();
        let expected = ["# A", "text\nmore", "- one\n- two\n\n    code of two", "***", "    x", "```\na\n\nb"];
        assert_eq!(found, expected);
        assert!(blocks(" \n").is_empty());
    }
}

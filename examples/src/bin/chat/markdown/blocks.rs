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
    let parser = parser(source);
    // what links refer to makes no event
    let definitions: Vec<_> =
        parser.reference_definitions().iter().map(|(_, definition)| definition.span.clone()).collect();
    let mut blocks = Vec::new();
    for (event, range) in parser.into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            // an indented block's range leaves its indentation out
            starts.push(line_start(source, range.start));
            blocks.push(range);
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let outermost =
        definitions.iter().filter(|definition| !blocks.iter().any(|block| block.contains(&definition.start)));
    starts.extend(outermost.map(|definition| line_start(source, definition.start)));
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([source.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |line| line + 1)
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
        let source = "[a]: /b\n\ntext [a]\n\n[c]: /d\n[e]: /f\n\n- x\n\n  [g]: /h\n";
        let found: Vec<_> = blocks(source).into_iter().map(|range| source[range].trim_end()).collect();
        assert_eq!(found, ["[a]: /b", "text [a]", "[c]: /d", "[e]: /f", "- x\n\n  [g]: /h"]);
    }
}

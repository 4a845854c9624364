//! An answer's Markdown as HTML that can do nothing: markup of the text's own stays text, and links lead to the web alone.

use std::borrow::Cow;

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, LinkType, Tag, TagEnd, html::push_html};

use super::text::visible;
use crate::markdown::parser;

/// Deeper than this, nobody meant it.
const DEPTH: usize = 40;

/// The text as HTML of at most so many bytes; none if it would be more.
pub(super) fn render(text: &str, limit: usize) -> Option<Markup> {
    if text.len() > limit {
        return None;
    }
    let mut safe = Vec::new();
    // what is said behind each link or picture that is open, and whether a link is open in the page
    let mut open = Vec::new();
    let mut depth = 0_usize;
    for event in parser(text) {
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH {
            return None;
        }
        match event {
            Event::Start(Tag::Link { link_type, dest_url, id, .. }) => {
                let leads = is_web(&dest_url);
                let named = matches!(link_type, LinkType::Autolink | LinkType::Email);
                open.push((leads, (!leads && !named).then(|| said(&dest_url))));
                if leads {
                    // where a link leads can be seen before it is followed
                    let title = dest_url.clone();
                    safe.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
            }
            // nothing is loaded
            Event::Start(Tag::Image { dest_url, .. }) => open.push((false, Some(said(&dest_url)))),
            Event::End(end @ (TagEnd::Link | TagEnd::Image)) => {
                let (leads, behind) = open.pop().unwrap_or_default();
                if leads {
                    safe.push(Event::End(end));
                }
                safe.extend(behind.map(|behind| Event::Text(behind.into())));
            }
            // the page's outline is its own
            Event::Start(Tag::Heading { .. }) => safe.push(Event::Html("<p class=\"h\">".into())),
            Event::End(TagEnd::Heading(_)) => safe.push(Event::Html("</p>".into())),
            Event::Start(Tag::CodeBlock(_)) => safe.push(Event::Start(Tag::CodeBlock(CodeBlockKind::Indented))),
            // an alignment would be a style of its own, which the page's policy forbids
            Event::Start(Tag::Table(columns)) => {
                safe.push(Event::Start(Tag::Table(vec![Alignment::None; columns.len()])));
            }
            Event::Start(Tag::HtmlBlock) => safe.push(Event::Start(Tag::Paragraph)),
            Event::End(TagEnd::HtmlBlock) => safe.push(Event::End(TagEnd::Paragraph)),
            Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => safe.push(Event::Text(shown(text))),
            Event::Code(text) => safe.push(Event::Code(shown(text))),
            Event::TaskListMarker(done) => safe.push(Event::Text(if done { "☑ " } else { "☐ " }.into())),
            other => safe.push(other),
        }
    }
    let mut html = String::with_capacity(text.len() * 5 / 4);
    push_html(&mut html, safe.into_iter());
    (html.len() <= limit).then_some(PreEscaped(html))
}

fn is_web(address: &str) -> bool {
    let scheme = address.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https")) && matches!(visible(address), Cow::Borrowed(_))
}

fn said(address: &str) -> String {
    format!(" ({})", visible(address))
}

fn shown(text: CowStr<'_>) -> CowStr<'_> {
    match visible(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        render(text, 10_000).unwrap().into_string()
    }

    #[test]
    fn markdown_is_drawn() {
        assert_eq!(html("# A\n\ntwo *words*"), "<p class=\"h\">A</p>\n<p>two <em>words</em></p>\n");
        assert_eq!(html("- [x] a"), "<ul>\n<li>☑ a</li>\n</ul>\n");
        assert_eq!(html("```rust\n<b>\n```"), "<pre><code>&lt;b&gt;\n</code></pre>\n");
        let table = html("|a|b|\n|-:|:-|\n|1|2|");
        assert!(table.contains("<th>a</th>") && table.contains("<td>2</td>") && !table.contains("style"), "{table}");
        let link = html("[it](https://example.org/a?b&c)");
        assert!(
            link.contains("<a href=\"https://example.org/a?b&amp;c\" title=\"https://example.org/a?b&amp;c\">it</a>")
        );
    }

    #[test]
    fn what_could_do_something_is_text() {
        for (text, wanted) in [
            ("<script>a()</script>", "&lt;script&gt;a()&lt;/script&gt;"),
            ("one <img src=x onerror=a()> two", "one &lt;img src=x onerror=a()&gt; two"),
            ("<div>\n<svg onload=a()>\n</div>", "&lt;svg onload=a()&gt;"),
            ("<!-- <b> -->", "&lt;!-- &lt;b&gt; --&gt;"),
            ("[x](javascript:a())", "<p>x (javascript:a())</p>"),
            ("[x](JaVaScRiPt:a())", "<p>x (JaVaScRiPt:a())</p>"),
            ("[x](data:text/html,a)", "<p>x (data:text/html,a)</p>"),
            ("[x](#e5)", "<p>x (#e5)</p>"),
            ("[x](//host/path)", "<p>x (//host/path)</p>"),
            ("<javascript:a()>", "<p>javascript:a()</p>"),
            ("[x][1]\n\n[1]: vbscript:a", "<p>x (vbscript:a)</p>"),
            ("![alt *text*](https://h/i.png)", "<p>alt <em>text</em> (https://h/i.png)</p>"),
            ("a\u{202e}b `c\u{1b}`", "<p>a[U+202E]b <code>c␛</code></p>"),
            ("[x](https://h/\u{202e})", "<p>x (https://h/[U+202E])</p>"),
            ("# x {onclick=a()}", "<p class=\"h\">x {onclick=a()}</p>"),
            ("```\" onclick=\"a()\nb\n```", "<pre><code>b\n</code></pre>"),
            (
                "[x](<https://h/\"onclick=a()>)",
                "href=\"https://h/%22onclick=a()\" title=\"https://h/&quot;onclick=a()\"",
            ),
        ] {
            let html = html(text);
            assert!(html.contains(wanted), "{text} is {html}");
            let tags = ["<script", "<img", "<svg", "<div", "<!--", "<iframe", "href=\"j", "href=\"d", "href=\"#"];
            assert!(!tags.iter().any(|tag| html.contains(tag)), "{text} is {html}");
        }
    }

    #[test]
    fn there_is_a_limit() {
        assert!(render(&"1. ".repeat(1_000), 100_000).is_none(), "of depth");
        assert!(render(&">".repeat(1_000), 100_000).is_none(), "of depth");
        assert!(render(&"*a* ".repeat(1_000), 4_000).is_none(), "of bytes");
        assert!(render(&"*a* ".repeat(1_000), 20_000).is_some());
    }
}

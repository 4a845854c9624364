use serde_json::{Value, value::RawValue};

use super::edit::quote;

/// What stands between a message's own text and the text that is merged into it.
pub(super) const SEPARATOR: &str = "\n\n";

/// The `content` of a message (its JSON text) with more content after it. What was there keeps its bytes.
///
/// Two strings become one with a blank line between; otherwise both become arrays of parts. Content that is neither
/// string nor array gives way.
pub(super) fn append(content: Option<&str>, more: &str) -> String {
    let Some(content) = content.filter(|content| !is_void(content)) else { return more.to_owned() };
    if is_void(more) {
        return content.to_owned();
    }
    if let (Some(content), Some(more)) = (inside(content, '"', '"'), inside(more, '"', '"')) {
        let separator = quote(SEPARATOR);
        return format!("\"{content}{}{more}\"", separator.trim_matches('"'));
    }
    format!("[{},{}]", parts(content), parts(more))
}

/// Whether there is nothing in it, so that what follows can stand alone.
fn is_void(content: &str) -> bool {
    matches!(content, "\"\"" | "[]") || !content.starts_with(['"', '['])
}

fn parts(content: &str) -> String {
    match inside(content, '[', ']') {
        Some(parts) => parts.to_owned(),
        None => format!(r#"{{"type":"text","text":{content}}}"#),
    }
}

fn inside(json: &str, open: char, close: char) -> Option<&str> {
    json.strip_prefix(open)?.strip_suffix(close)
}

/// Whether content says nothing: absent, `null`, blank text, or no parts but blank ones.
pub(super) fn is_blank(content: Option<&str>) -> bool {
    let Some(content) = content else { return true };
    let blank = |text: &str| text.trim().is_empty();
    match content.as_bytes().first() {
        Some(b'"') => serde_json::from_str::<String>(content).is_ok_and(|text| blank(&text)),
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(content).is_ok_and(|parts| {
            parts.iter().all(|part| {
                let part = serde_json::from_str::<Value>(part.get()).unwrap_or_default();
                part.get("text").and_then(Value::as_str).is_some_and(blank)
            })
        }),
        _ => content == "null",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appends_to_every_shape_of_content() {
        for (content, more, expected) in [
            (Some(r#""a \"\ud800""#), r#""b\n""#, r#""a \"\ud800\n\nb\n""#),
            (Some(r#""""#), r#""b""#, r#""b""#),
            (None, r#""b""#, r#""b""#),
            (Some("null"), r#""b""#, r#""b""#),
            (Some(r#"[{"x":1}]"#), r#""b""#, r#"[{"x":1},{"type":"text","text":"b"}]"#),
            (Some("[]"), r#""b""#, r#""b""#),
            (Some(r#""a""#), r#""""#, r#""a""#),
            (Some(r#""a""#), "null", r#""a""#),
            (Some(r#""a""#), r#"[{"x":1}]"#, r#"[{"type":"text","text":"a"},{"x":1}]"#),
            (Some(r#"[{"x":1}]"#), r#"[{"y":2}]"#, r#"[{"x":1},{"y":2}]"#),
        ] {
            assert_eq!(append(content, more), expected);
        }
    }

    #[test]
    fn knows_what_says_nothing() {
        for blank in
            [None, Some("null"), Some(r#""""#), Some(r#"" \n""#), Some("[]"), Some(r#"[{"type":"text","text":""}]"#)]
        {
            assert!(is_blank(blank), "{blank:?}");
        }
        for full in [r#""a""#, r#"[{"type":"image_url","image_url":{}}]"#, r#""\ud800""#, "7"] {
            assert!(!is_blank(Some(full)), "{full}");
        }
    }
}

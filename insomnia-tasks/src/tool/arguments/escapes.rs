/// Repairs the strings of a JSON text: raw line breaks and other control characters are escaped, a backslash that begins
/// no escape is doubled (`C:\projects`), and `\'` becomes `'`. None where there is nothing to repair, or where it could mean
/// two things: in `C:\projects\new` the `\n` may be a line break or not.
pub(super) fn repair(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('"') {
        let end = string_end(after)?;
        let (body, quote_on) = after.split_at(end);
        out.push_str(before);
        out.push('"');
        out.push_str(&repair_body(body)?);
        out.push('"');
        rest = quote_on.strip_prefix('"')?;
    }
    out.push_str(rest);
    (out != text).then_some(out)
}

/// Where the quote stands that ends a string.
fn string_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

fn repair_body(body: &str) -> Option<String> {
    let mut out = String::with_capacity(body.len());
    let (mut literal, mut meaningful) = (false, false);
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                next @ ('"' | '\\' | '/') => out.extend(['\\', next]),
                '\'' => out.push('\''),
                next @ ('b' | 'f' | 'n' | 'r' | 't') => {
                    meaningful = true;
                    out.extend(['\\', next]);
                }
                'u' if is_code(chars.as_str()) => {
                    meaningful = true;
                    out.push_str("\\u");
                }
                next => {
                    literal = true;
                    out.extend(['\\', '\\']);
                    push(&mut out, next);
                }
            },
            c => push(&mut out, c),
        }
    }
    (!(literal && meaningful)).then_some(out)
}

fn is_code(text: &str) -> bool {
    text.as_bytes().get(..4).is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit))
}

fn push(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::repair;

    #[test]
    fn repairs_what_has_one_meaning() {
        for (broken, repaired) in [
            (r#"{"a":"C:\projects\d"}"#, r#"{"a":"C:\\projects\\d"}"#),
            (r#"{"a":"C:\users","b":"x\ny"}"#, r#"{"a":"C:\\users","b":"x\ny"}"#),
            (r#"{"a":"it\'s\n"}"#, r#"{"a":"it's\n"}"#),
            ("{\n\"a\":\"x\n\ty\u{1}\"}", "{\n\"a\":\"x\\n\\ty\\u0001\"}"),
            (r#"{"a":"\d+\\.\"\/"}"#, r#"{"a":"\\d+\\.\"\/"}"#),
        ] {
            assert_eq!(repair(broken).as_deref(), Some(repaired));
        }
    }

    #[test]
    fn leaves_the_rest() {
        assert_eq!(repair(r#"{"a":"C:\projects\new"}"#), None, "a line break or a folder");
        assert_eq!(repair(r#"{"a":"C:\projects\"}"#), None, "the string does not end");
        assert_eq!(repair(r#"{"a":"fine\n"}"#), None);
    }
}

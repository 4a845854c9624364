use std::borrow::Cow;

/// The doc comment of a field or a type, as schemars tells it, without what a block comment has at the left of its lines: the
/// indentation of the code and a column of `*`.
pub(crate) fn undecorated(doc: &str) -> Cow<'_, str> {
    let Some((first, rest)) = doc.split_once('\n') else {
        return Cow::Borrowed(doc.strip_prefix("* ").unwrap_or(doc));
    };
    let unindented = |line: &str| line.trim_start_matches([' ', '\t']).len();
    let filled = || rest.split('\n').filter(|line| unindented(line) > 0);
    let indent = filled().map(|line| line.len() - unindented(line)).min().unwrap_or_default();
    if indent == 0 {
        return Cow::Borrowed(doc); // lines of their own, or a list
    }
    let starred = filled().all(|line| line.get(indent..).is_some_and(|line| line.starts_with('*')));
    let left = if starred { "*" } else { "" };
    let body = rest.split('\n').map(|line| {
        let line = line.get(indent..).unwrap_or_default();
        let line = line.strip_prefix(left).unwrap_or(line);
        if starred { line.strip_prefix(' ').unwrap_or(line) } else { line }
    });
    let first = first.strip_prefix(left).map_or(first, str::trim_start);
    Cow::Owned(std::iter::once(first).chain(body).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::undecorated;

    #[test]
    fn takes_off_what_a_block_comment_adds() {
        for (doc, told) in [
            ("Read\n     * a file\n     *\n     *  - or two", "Read\na file\n\n - or two"),
            ("* Read\n     * it", "Read\nit"),
            ("* Read", "Read"),
            ("Read\n        a file\n          or two", "Read\na file\n  or two"),
            ("Read:\n    - one\n    * two", "Read:\n- one\n* two"),
        ] {
            assert_eq!(undecorated(doc), told);
        }
        for kept in ["", "Read", "Read\nit", "* one\n* two", "Read:\n\n* one\n  more\n* two"] {
            assert_eq!(undecorated(kept), kept);
        }
    }
}

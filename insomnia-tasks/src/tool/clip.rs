use std::borrow::Cow;

/// Bytes of a model's own words that an answer repeats at most.
pub(super) const ECHO: usize = 200;

/// The text, cut to at most `max` bytes at a character's boundary. A cut is marked with `…`.
pub(super) fn clip(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let room = max.saturating_sub('…'.len_utf8());
    let kept = (0..=room).rev().find_map(|end| text.get(..end)).unwrap_or_default();
    Cow::Owned(format!("{kept}…"))
}

/// A message of serde, cut in its middle to at most `max` bytes: it repeats the value first and says what was expected last.
pub(super) fn clip_message(message: &str, max: usize) -> Cow<'_, str> {
    if message.len() <= max {
        return Cow::Borrowed(message);
    }
    let (came, expected) = message.rfind(", expected ").map_or((message, ""), |at| message.split_at(at));
    let expected = clip(expected, max / 2);
    Cow::Owned(format!("{}{expected}", clip(came, max - expected.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_characters() {
        assert_eq!(clip("short", 5), "short");
        assert_eq!(clip("äöüäöü", 8), "äö…");
        assert_eq!(clip("äöü", 1), "…");
    }

    #[test]
    fn keeps_what_was_expected() {
        let message = format!("invalid type: string \"{}\", expected u32", "x".repeat(500));
        let clipped = clip_message(&message, ECHO);
        assert!(clipped.len() <= ECHO && clipped.ends_with("…, expected u32"), "{clipped}");
        assert_eq!(clip_message(&"y".repeat(500), ECHO).len(), ECHO);
    }
}

//! Reading JSON of others: shallow, so that one odd member never costs the rest.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

/// The members of a JSON object, each as its JSON text. Duplicate keys are fine: the last one counts.
#[derive(Debug)]
pub(crate) struct Object<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Object<'a> {
    /// None if the text is no JSON object.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        members(text).map(Self)
    }

    /// The JSON text of a member; `null` counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        self.members().rev().find(|(name, _)| *name == key).map(|(_, text)| text).filter(|text| *text != "null")
    }

    /// A member that is an object itself.
    pub(crate) fn object(&self, key: &str) -> Option<Object<'a>> {
        Object::parse(self.get(key)?)
    }

    /// A member that is a string, decoded.
    pub(crate) fn string(&self, key: &str) -> Option<String> {
        string(self.get(key)?)
    }

    /// A member that is a string with something in it.
    pub(crate) fn filled(&self, key: &str) -> Option<String> {
        self.string(key).filter(|text| !text.is_empty())
    }

    pub(crate) fn members(&self) -> impl DoubleEndedIterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.get()))
    }
}

/// The string that a JSON text is, if it is one; a surrogate without its other half becomes U+FFFD.
pub(crate) fn string(json: &str) -> Option<String> {
    let read = || serde_json::from_str(json).or_else(|_| serde_json::from_str(&repair_strings(json)));
    if json.starts_with('"') { read().ok() } else { None }
}

/// The elements of a JSON array; whatever else the text is counts as the only element.
pub(crate) fn elements(json: &str) -> Vec<&str> {
    match serde_json::from_str::<Vec<&RawValue>>(json) {
        Ok(elements) => elements.into_iter().map(RawValue::get).collect(),
        Err(_) => vec![json],
    }
}

/// The number that a JSON text is, or that a string holds, if it is not negative. Fractions are cut.
pub(crate) fn number(json: &str) -> Option<u64> {
    let text = json.trim_matches('"').trim();
    text.parse().ok().or_else(|| {
        let number: f64 = text.parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number as u64)
    })
}

/// The JSON documents at the start of a text; what follows the last whole one is returned beside them.
pub(crate) fn documents(text: &str) -> (Vec<&str>, &str) {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let mut found = Vec::new();
    let mut end = 0;
    while let Some(Ok(document)) = stream.next() {
        found.push(document.get());
        end = stream.byte_offset();
    }
    (found, text.get(end..).unwrap_or_default())
}

/// Bytes of a server as text, without a byte order mark. Invalid UTF-8, surrogates without their other half and raw
/// control characters in strings are replaced, since no JSON parser takes them.
pub(crate) fn readable(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => repair_strings(text),
        Cow::Owned(text) => Cow::Owned(repair_strings(&text).into_owned()),
    }
}

/// Replaces lone surrogates and raw control characters in the JSON strings of a text.
pub(crate) fn repair_strings(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at, mut in_string) = (0, 0, false);
    while let Some(&byte) = bytes.get(at) {
        let mut replaced = None;
        let mut width = 1;
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => {
                width = 2;
                if let Some(unit) = escaped_unit(bytes, at) {
                    width = 6;
                    if is_pair(unit, escaped_unit(bytes, at + 6)) {
                        width = 12;
                    } else if (0xd800..0xe000).contains(&unit) {
                        replaced = Some("\\ufffd".to_owned());
                    }
                }
            }
            0..0x20 if in_string => replaced = Some(format!("\\u{byte:04x}")),
            _ => {}
        }
        if let Some(replaced) = replaced {
            out.push_str(text.get(copied..at).unwrap_or_default());
            out.push_str(&replaced);
            copied = at + width;
        }
        at += width;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// The UTF-16 unit of a `\uXXXX` escape that starts here.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}

fn is_pair(high: u16, low: Option<u16>) -> bool {
    (0xd800..0xdc00).contains(&high) && low.is_some_and(|low| (0xdc00..0xe000).contains(&low))
}

/// A JSON text as a value, if it is JSON that is not too deeply nested.
pub(crate) fn value(json: &str) -> Option<Value> {
    serde_json::from_str(json).ok()
}

/// The members of a JSON object, keys in the form that is asked for; none if the text is no JSON object.
pub(crate) fn members<'a, K: Deserialize<'a>>(text: &'a str) -> Option<Vec<(K, &'a RawValue)>> {
    struct Members<K>(PhantomData<K>);

    impl<'de, K: Deserialize<'de>> Visitor<'de> for Members<K> {
        type Value = Vec<(K, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }

    let mut reader = serde_json::Deserializer::from_str(text);
    let members = (&mut reader).deserialize_map(Members(PhantomData)).ok()?;
    reader.end().ok().map(|()| members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_members_without_judging_them() {
        let object = Object::parse(r#"{"a":1,"b":null,"a":"x","c":{"d":[]}}"#).unwrap();
        assert_eq!(object.string("a").as_deref(), Some("x"));
        assert_eq!(object.get("b"), None);
        assert_eq!(object.object("c").unwrap().get("d"), Some("[]"));
        assert!(Object::parse("[1]").is_none());
    }

    #[test]
    fn finds_documents_before_garbage() {
        assert_eq!(documents("{\"a\":1}\n[2] data: x"), (vec!["{\"a\":1}", "[2]"], " data: x"));
        assert_eq!(documents("nope"), (vec![], "nope"));
        assert_eq!(documents(""), (vec![], ""));
    }

    #[test]
    fn reads_numbers_in_every_dress() {
        let all = ["7", "\"7\"", "7.0", "7.9"].map(number);
        assert_eq!(all, [Some(7); 4]);
        assert_eq!(["-1", "true", "\"x\"", "{}"].map(number), [None; 4]);
    }

    #[test]
    fn replaces_only_what_no_parser_takes() {
        let good = r#"{"a":"\ud83d\ude00 \\ud83d \n é"}"#;
        assert!(matches!(repair_strings(good), Cow::Borrowed(_)));
        assert_eq!(repair_strings("\"\\ud83d x\\ude00\""), "\"\\ufffd x\\ufffd\"");
        assert_eq!(repair_strings("{\n\"a\nb\"}"), "{\n\"a\\u000ab\"}");
        assert_eq!(repair_strings("\"\\ud83d\\ud83d\\ude00\""), "\"\\ufffd\\ud83d\\ude00\"");
        assert_eq!(readable(b"\xef\xbb\xbf\"\xff\""), "\"\u{fffd}\"");
    }
}

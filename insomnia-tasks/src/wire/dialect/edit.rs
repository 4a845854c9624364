use std::{borrow::Cow, sync::Arc};

use serde_json::value::RawValue;

use crate::json::members;

/// A JSON object as texts, so that one member can be changed and every other byte stays.
///
/// Whitespace between its members goes; items have none.
pub(super) struct Object<'a> {
    members: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    changed: bool,
}

impl<'a> Object<'a> {
    /// `None` where the text is no JSON object.
    pub(super) fn parse(json: &'a str) -> Option<Self> {
        let text = |raw: &'a RawValue| Cow::Borrowed(raw.get());
        let members = members::<&RawValue>(json)?.into_iter().map(|(key, value)| (text(key), text(value))).collect();
        Some(Self { members, changed: false })
    }

    /// The JSON text of a member; of several with the same key, the last.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.members.iter().rfind(|(name, _)| is_key(name, key)).map(|(_, value)| value.as_ref())
    }

    /// A member that is a string, decoded.
    pub(super) fn get_string(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?).ok()
    }

    /// Gives a member this JSON text, at its place or at the end.
    pub(super) fn set(&mut self, key: &str, json: impl Into<String>) {
        let json = json.into();
        if self.get(key) == Some(&json) {
            return;
        }
        self.changed = true;
        match self.members.iter_mut().rfind(|(name, _)| is_key(name, key)) {
            Some((_, value)) => *value = Cow::Owned(json),
            None => self.members.push((Cow::Owned(quote(key)), Cow::Owned(json))),
        }
    }

    pub(super) fn remove(&mut self, key: &str) {
        let before = self.members.len();
        self.members.retain(|(name, _)| !is_key(name, key));
        self.changed |= self.members.len() != before;
    }

    pub(super) fn changed(&self) -> bool {
        self.changed
    }

    pub(super) fn text(&self) -> String {
        let length: usize = self.members.iter().map(|(key, value)| key.len() + value.len() + 2).sum();
        let mut out = String::with_capacity(length + 2);
        out.push('{');
        for (index, (key, value)) in self.members.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(key);
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
        out
    }

    /// The edited message; `original` itself, shared, where nothing was changed.
    pub(super) fn share(&self, original: &Arc<RawValue>) -> Arc<RawValue> {
        if !self.changed {
            return original.clone();
        }
        RawValue::from_string(self.text()).map_or_else(|_| original.clone(), Arc::from)
    }
}

/// A text as a JSON string.
pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn is_key(name: &str, key: &str) -> bool {
    if name.contains('\\') {
        return serde_json::from_str::<String>(name).is_ok_and(|name| name == key);
    }
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) == Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: &str = r#"{"a\u0062":1.50e1,"s":"\ud800","x":{"s":[1,"}"]},"s":null}"#;

    #[test]
    fn keeps_every_byte_of_what_it_does_not_touch() {
        let mut object = Object::parse(ODD).unwrap();
        assert_eq!(object.text(), ODD);
        assert_eq!((object.get("ab"), object.get("s"), object.get("t")), (Some("1.50e1"), Some("null"), None));
        object.set("s", "null");
        object.remove("t");
        assert!(!object.changed());
        object.set("s", "2");
        object.set("t", "3");
        assert_eq!(object.text(), r#"{"a\u0062":1.50e1,"s":"\ud800","x":{"s":[1,"}"]},"s":2,"t":3}"#);
        object.remove("s");
        assert_eq!(object.text(), r#"{"a\u0062":1.50e1,"x":{"s":[1,"}"]},"t":3}"#);
    }

    #[test]
    fn reads_only_objects() {
        assert!(Object::parse("[1]").is_none());
        assert!(Object::parse("{").is_none());
        assert_eq!(Object::parse("{}").unwrap().text(), "{}");
    }
}

use std::borrow::Cow;

use serde_json::Value;

use super::escapes::repair;
use crate::json::{documents, repair_strings};

/// Why a call's arguments cannot be used. The message is written for the model, which is to call again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MalformedArguments {
    /// They end in the middle.
    #[error(
        "the arguments were cut off before their end: call the tool again, with shorter arguments if they were long"
    )]
    Truncated,
    /// They are JSON, but not an object.
    #[error("the arguments must be a JSON object, not {0}: call the tool again with an object")]
    NotAnObject(&'static str),
    /// They are not JSON; the reason is beside it.
    #[error(
        "the arguments are not valid JSON ({0}): call the tool again with one JSON object, and write every backslash in a string as \\\\"
    )]
    Invalid(String),
    /// They are several objects.
    #[error("the arguments hold {0} JSON objects: make one call for each of them")]
    Several(usize),
}

/// A call's arguments as the text of one JSON object.
///
/// Nothing and `null` mean `{}`; a string that holds an object is unwrapped; Markdown fences, an empty object in front,
/// repeated objects and text after the object are dropped; line breaks and backslashes that were not escaped are repaired
/// where that has one meaning. An object in good order passes byte for byte.
///
/// # Errors
/// If no object can be read from the text without guessing.
pub fn normalize_arguments(text: &str) -> Result<Cow<'_, str>, MalformedArguments> {
    let mut objects = split_arguments(text)?;
    match (objects.pop(), objects.len()) {
        (Some(object), 0) => Ok(object),
        (_, others) => Err(MalformedArguments::Several(others + 1)),
    }
}

/// What to send back to a server as a call's arguments: the normalised text, or `{}` where there is none, since some
/// servers refuse a whole conversation for one call whose arguments are no JSON object.
pub fn echo_arguments(text: &str) -> Cow<'_, str> {
    normalize_arguments(text).unwrap_or(Cow::Borrowed("{}"))
}

/// Like [`normalize_arguments`], but several different objects are several results; there is at least one.
pub(crate) fn split_arguments(text: &str) -> Result<Vec<Cow<'_, str>>, MalformedArguments> {
    split(text, MAX_UNWRAPPED)
}

/// How many layers of quoting are taken off.
const MAX_UNWRAPPED: usize = 3;

fn split(text: &str, layers: usize) -> Result<Vec<Cow<'_, str>>, MalformedArguments> {
    let text = text.trim_start_matches('\u{feff}').trim();
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => Ok(vec![Cow::Borrowed(text)]),
        Ok(Value::Null) => Ok(vec![Cow::Borrowed("{}")]),
        Ok(Value::String(inner)) if layers > 0 => Ok(owned(split(&inner, layers - 1)?)),
        Ok(value) => Err(MalformedArguments::NotAnObject(type_name(&value))),
        Err(_) if text.is_empty() => Ok(vec![Cow::Borrowed("{}")]),
        Err(error) => match without_fence(text) {
            Some(inner) if layers > 0 => split(inner, layers - 1),
            _ => repaired(text, &error),
        },
    }
}

/// The objects of a text that is not one document. Repairs come last: they must not change what can be read as it is.
fn repaired<'a>(text: &'a str, error: &serde_json::Error) -> Result<Vec<Cow<'a, str>>, MalformedArguments> {
    let found = match repair_strings(text) {
        Cow::Borrowed(text) => several(text, error),
        Cow::Owned(repaired) => several(&repaired, error).map(owned),
    };
    let Err(MalformedArguments::Invalid(_)) = &found else { return found };
    match repair(text).map(|repaired| split(&repaired, 0).map(owned)) {
        Some(Ok(objects)) => Ok(objects),
        _ => found,
    }
}

/// The different objects of a text that is not one document: `{}{"a":1}`, `{"a":1}{"a":1}`, `{"a":1} Done.`
fn several<'a>(text: &'a str, error: &serde_json::Error) -> Result<Vec<Cow<'a, str>>, MalformedArguments> {
    let failed = || match error.is_eof() {
        true => MalformedArguments::Truncated,
        false => MalformedArguments::Invalid(error.to_string()),
    };
    let (found, rest) = documents(text);
    if found.is_empty() {
        return Err(failed());
    }
    if rest.contains(['{', '[']) || rest.trim_start().starts_with([',', ':']) {
        // more than an aside: the start of another object, or members that stand outside
        return Err(if rest.trim_start().starts_with('{') { MalformedArguments::Truncated } else { failed() });
    }
    let mut objects: Vec<(Value, &str)> = Vec::new();
    for document in found {
        match serde_json::from_str(document) {
            Ok(value @ Value::Object(_)) if objects.iter().all(|(known, _)| *known != value) => {
                objects.push((value, document));
            }
            Ok(Value::Object(_)) => {}
            _ => return Err(failed()),
        }
        if objects.len() > MAX_OBJECTS {
            return Err(MalformedArguments::Several(objects.len()));
        }
    }
    if objects.len() > 1 {
        objects.retain(|(value, _)| value.as_object().is_none_or(|members| !members.is_empty()));
    }
    Ok(objects.into_iter().map(|(_, text)| Cow::Borrowed(text)).collect())
}

/// How many objects one text may hold; more is a model in a loop.
const MAX_OBJECTS: usize = 64;

/// The inside of a Markdown code block, whatever follows it.
fn without_fence(text: &str) -> Option<&str> {
    let (_language, inner) = text.strip_prefix("```")?.split_once('\n')?;
    Some(inner.split_once("\n```").map_or(inner, |(inner, _)| inner).trim_end_matches('`'))
}

fn owned(texts: Vec<Cow<'_, str>>) -> Vec<Cow<'static, str>> {
    texts.into_iter().map(|text| Cow::Owned(text.into_owned())).collect()
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn accepts_what_models_write() {
        for (text, want) in [
            ("", "{}"),
            ("  \n", "{}"),
            ("null", "{}"),
            ("\"null\"", "{}"),
            ("\"\"", "{}"),
            ("{ \"a\" : 1.50 }", "{ \"a\" : 1.50 }"),
            (r#""{\"a\":1}""#, r#"{"a":1}"#),
            (r#""\"{\\\"a\\\":1}\"""#, r#"{"a":1}"#),
            (r#"{}{"a":1}"#, r#"{"a":1}"#),
            (r#"{"a":1}{"a": 1}"#, r#"{"a":1}"#),
            (r#"{"a":1}{}"#, r#"{"a":1}"#),
            ("```json\n{\"a\":1}\n```\nDone.", r#"{"a":1}"#),
            ("```\n{\"a\":1}```", r#"{"a":1}"#),
            (r#"{"a":1}</tool_call>"#, r#"{"a":1}"#),
            (r#"{"a":1}}"#, r#"{"a":1}"#),
            ("{\"a\":\"x\ny\"}", "{\"a\":\"x\\u000ay\"}"),
            (r#"{"a":"C:\projects\d"}"#, r#"{"a":"C:\\projects\\d"}"#),
            (r#"{"a":"\ud83d"}"#, r#"{"a":"\ufffd"}"#),
        ] {
            assert_eq!(normalize_arguments(text).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn refuses_what_would_be_a_guess() {
        use MalformedArguments::{Invalid, NotAnObject, Several, Truncated};
        assert_eq!(normalize_arguments("[1]"), Err(NotAnObject("an array")));
        assert_eq!(normalize_arguments("7"), Err(NotAnObject("a number")));
        assert_eq!(normalize_arguments(r#"{"a":1}{"a":2}"#), Err(Several(2)));
        for cut in [r#"{"a":"wri"#, r#"{"a":1"#, "{", r#"{"a":1}{"a":"#, r#"{}{"a":1"#] {
            assert_eq!(normalize_arguments(cut), Err(Truncated), "{cut}");
        }
        for bad in [r#"{"a":"C:\projects\new"}"#, r#"{"a":1}, "b": 2"#, "{a:1}", "Done.", "{'a':1}"] {
            assert!(matches!(normalize_arguments(bad), Err(Invalid(_))), "{bad}");
        }
        let many: String = (0..100).map(|n| format!(r#"{{"a":{n}}}"#)).collect();
        assert!(matches!(split_arguments(&many), Err(Several(_))));
    }

    #[test]
    fn splits_different_objects() {
        assert_eq!(split_arguments(r#"{"a":1}{"a":2} {"a":1}"#).unwrap(), [r#"{"a":1}"#, r#"{"a":2}"#]);
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        let deep = format!("{}{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
        assert!(normalize_arguments(&deep).is_err());
        assert_eq!(echo_arguments(&deep), "{}");
    }

    proptest! {
        #[test]
        fn what_is_echoed_is_an_object(text in r#"[\x00-\x7f{}\[\]",:\\a1 nul`]{0,40}"#) {
            prop_assert!(serde_json::from_str::<serde_json::Map<String, Value>>(&echo_arguments(&text)).is_ok());
        }

        #[test]
        fn a_cut_object_never_passes(keep in 1usize..38) {
            let whole = r#"{"subject":"a {}","more":[{"x":"\\"}]}"#;
            prop_assert!(normalize_arguments(&whole[..keep.min(whole.len() - 1)]).is_err());
        }
    }
}

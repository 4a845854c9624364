use std::collections::BTreeMap;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::*;
use crate::{Tool, tool::clip::ECHO};

fn object(text: &str) -> Value {
    match parse_object(text) {
        Ok(object) => object.into(),
        Err(error) => panic!("{text}: {error}"),
    }
}

#[test]
fn nothing_is_an_empty_object() {
    for text in ["", " \n", "null", "\"null\"", "\"\"", "{}", "\"{}\"", "{}{}", "\u{feff}{}", "```json\n```"] {
        assert_eq!(object(text), json!({}), "{text}");
    }
}

#[test]
fn finds_the_object() {
    for text in [
        r#"{"a":1}"#,
        r#""{\"a\":1}""#,
        r#""\"{\\\"a\\\":1}\"""#,
        "```json\n{\"a\":1}\n```",
        "```\n{\"a\":1}```",
        r#"{}{"a":1}"#,
        r#"{"a":1}{"a":1}"#,
        r#"{"a":1}}"#,
        r#"{"a":1}</tool_call>"#,
        r#"{"a":1} I called it."#,
    ] {
        assert_eq!(object(text), json!({"a": 1}), "{text}");
    }
    assert_eq!(object(r#"{"s":"C:\projects\d"}"#), json!({"s": r"C:\projects\d"}));
    assert_eq!(object("{\"s\":\"a\nb\"}"), json!({"s": "a\nb"}));
}

#[test]
fn refuses_everything_else() {
    for (text, says) in [
        ("[1]", "not an array"),
        ("3", "not a number"),
        ("\"hello\"", "not valid JSON"),
        ("\"3\"", "not a number"),
        ("true", "not a boolean"),
        (r#"{"a": "x"#, "cut off"),
        (r#"{"a": 1"#, "cut off"),
        (r#"{}{"a""#, "cut off"),
        (r#"{"a":1}{"a":2}"#, "one call for each"),
        (r#"{"a":1}, "b": 2"#, "one JSON object"),
        (r#"{"a":1}[]"#, "one JSON object"),
        ("null null", "not valid JSON"),
        ("{a: 1}", "not valid JSON"),
        (r#"{"a":"C:\projects\new"}"#, r"every backslash"),
    ] {
        let message = parse_object(text).expect_err(text).to_string();
        assert!(message.contains(says) && message.contains("nothing was run"), "{text}: {message}");
    }
}

#[test]
fn echoes_little() {
    let huge = format!("[\"{}\"]", "ä".repeat(10_000));
    let message = parse_object(&huge).unwrap_err().to_string();
    assert!(message.len() < 400 && message.contains("[\"ää"), "{message}");
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Inner {
    id: u32,
    flag: Option<bool>,
}

/// Take all kinds.
#[derive(Debug, Deserialize, JsonSchema, PartialEq, Tool)]
struct Kinds {
    count: Option<u32>,
    ratio: Option<f64>,
    flag: Option<bool>,
    text: Option<String>,
    #[serde(default)]
    defaulted: u32,
    list: Option<Vec<u32>>,
    inner: Option<Inner>,
    map: Option<BTreeMap<String, i64>>,
    any: Option<Value>,
    level: Option<Level>,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
    High,
}

fn kinds(value: &Value) -> Result<Kinds, String> {
    Kinds::parse(&value.to_string()).map_err(|error| error.to_string())
}

#[test]
fn reads_scalars_in_strings() {
    let read = kinds(&json!({
        "count": " 3 ", "ratio": "1e3", "flag": "True", "list": ["1", 2.0], "inner": {"id": "7", "flag": "false"},
        "map": {"k": "-5"}, "defaulted": null, "unknown": {},
    }));
    let kinds = read.unwrap();
    assert_eq!((kinds.count, kinds.ratio, kinds.flag), (Some(3), Some(1000.0), Some(true)));
    assert_eq!(kinds.list, Some(vec![1, 2]));
    assert_eq!(kinds.inner, Some(Inner { id: 7, flag: Some(false) }));
    assert_eq!(kinds.map, Some(BTreeMap::from([("k".into(), -5)])));
    assert_eq!(kinds.defaulted, 0);
}

#[test]
fn decodes_nested_strings_only_where_no_string_is_wanted() {
    let read =
        kinds(&json!({"inner": "{\"id\": \"7\"}", "list": "[\"1\"]", "map": "{}", "text": "{\"a\": 1}"})).unwrap();
    assert_eq!((read.inner.map(|inner| inner.id), read.list), (Some(7), Some(vec![1])));
    assert_eq!(read.text.as_deref(), Some("{\"a\": 1}"));
    // Strict reading comes first, and a JSON value may be a string.
    assert_eq!(kinds(&json!({"any": "[1]", "count": "1"})).unwrap().any, Some(json!("[1]")));
}

#[test]
fn null_is_absence() {
    let all = json!({"count": null, "flag": null, "list": null, "inner": {"id": 1, "flag": null}, "any": null});
    assert_eq!(kinds(&all).unwrap().inner, Some(Inner { id: 1, flag: None }));
}

/// Take what has defaults.
#[derive(Debug, Deserialize, JsonSchema, PartialEq, Tool)]
struct Defaults {
    #[serde(default = "ten")]
    limit: Option<u32>,
    #[serde(default = "high")]
    level: Level,
    nested: Option<Nested>,
    nested_more: Option<BTreeMap<String, Vec<Nested>>>,
    #[serde(default = "any_default")]
    any: Option<Value>,
    holes: Option<Vec<Option<u32>>>,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(default)]
struct Nested {
    limit: Option<u32>,
}

impl Default for Nested {
    fn default() -> Self {
        Self { limit: Some(5) }
    }
}

fn ten() -> Option<u32> {
    Some(10)
}

fn high() -> Level {
    Level::High
}

fn any_default() -> Option<Value> {
    Some(json!("any"))
}

#[test]
fn a_default_counts_for_null_as_for_absence() {
    let read = |value: Value| Defaults::parse(&value.to_string()).unwrap();
    let absent = read(json!({"nested": {}, "nested_more": {"a": [{}]}}));
    assert_eq!((absent.limit, absent.nested.as_ref().unwrap().limit), (Some(10), Some(5)));
    let null =
        json!({"limit": null, "level": null, "nested": {"limit": null}, "nested_more": {"a": [{"limit": null}]}});
    assert_eq!(read(null.clone()), absent);
    // also in text within the text
    let quoted = json!({"nested": r#"{"limit": null}"#, "nested_more": r#"{"a": [{"limit": "null"}]}"#});
    assert_eq!(read(quoted), absent);
    // null is a value where any value is, and an entry of a list is no field
    let kept = read(json!({"any": null, "holes": [null, 1]}));
    assert_eq!((kept.any, kept.holes), (None, Some(vec![None, Some(1)])));
    let error = Kinds::parse(r#"{"inner": {"id": null}}"#).unwrap_err().to_string();
    assert!(error.contains("`inner.id`: expected a whole number from 0 to 4294967295, but null came"), "{error}");
}

#[test]
fn empty_text_is_absence_where_no_text_can_be() {
    for nothing in ["", " ", "null"] {
        let all = json!({"count": nothing, "ratio": nothing, "flag": nothing, "list": nothing, "inner": nothing, "map": nothing,
            "level": nothing, "defaulted": nothing});
        let read = kinds(&all).unwrap();
        assert_eq!(read, kinds(&json!({})).unwrap());
        let read = kinds(&json!({"text": nothing, "any": nothing, "count": nothing})).unwrap();
        assert_eq!((read.text.as_deref(), read.any, read.count), (Some(nothing), Some(json!(nothing)), None));
        let read = Defaults::parse(&json!({"limit": nothing, "level": nothing}).to_string()).unwrap();
        assert_eq!((read.limit, read.level), (Some(10), Level::High));
    }
    for (wrong, says) in [
        (
            json!({"inner": {"id": ""}}),
            "`inner.id`: expected a whole number from 0 to 4294967295, but the string \"\" came",
        ),
        (json!({"list": [""]}), "`list[0]`: expected a whole number"),
        (json!({"count": "none"}), "`count`: expected a whole number"),
    ] {
        let message = kinds(&wrong).unwrap_err();
        assert!(message.contains(says), "{message}");
    }
}

/// Take what is read by functions.
#[derive(Debug, Deserialize, JsonSchema, PartialEq, Tool)]
struct ByFunction {
    #[serde(deserialize_with = "optional")]
    line: Option<u32>,
    places: Option<Vec<Place>>,
    #[serde(deserialize_with = "never_null")]
    #[schemars(with = "Option<u32>")]
    stubborn: u32,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Place {
    #[serde(deserialize_with = "optional")]
    line: Option<u32>,
}

fn optional<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Option::deserialize(deserializer)
}

fn never_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    u32::deserialize(deserializer)
}

#[test]
fn an_optional_field_may_be_left_out_even_where_serde_wants_it() {
    let read = |text: &str| ByFunction::parse(text).map_err(|error| error.to_string());
    let want =
        ByFunction { line: None, places: Some(vec![Place { line: None }, Place { line: Some(3) }]), stubborn: 1 };
    for text in [
        r#"{"places": [{}, {"line": 3}], "stubborn": 1}"#,
        r#"{"line": null, "places": [{"line": ""}, {"line": "3"}], "stubborn": "1"}"#,
    ] {
        assert_eq!(read(text).as_ref(), Ok(&want));
    }
    let error = read(r#"{"line": 1}"#).unwrap_err();
    assert!(error.contains("`stubborn`: expected a whole number from 0 to 4294967295, but null came"), "{error}");
    let error = read(r#"{"line": "x", "stubborn": 1}"#).unwrap_err();
    assert!(
        error.contains("`line`: expected a whole number from 0 to 4294967295, but the string \"x\" came"),
        "{error}"
    );
}

#[test]
fn errors_name_the_field() {
    for (wrong, says) in [
        (
            json!({"count": "three"}),
            "`count`: expected a whole number from 0 to 4294967295, but the string \"three\" came",
        ),
        (json!({"count": "3.5"}), "`count`: expected a whole number from 0 to 4294967295, but the string \"3.5\" came"),
        (json!({"count": -1}), "`count`: expected a whole number from 0 to 4294967295, but the integer `-1` came"),
        (
            json!({"inner": {"id": 1, "flag": "maybe"}}),
            "`inner.flag`: expected a boolean, but the string \"maybe\" came",
        ),
        (json!({"inner": {}}), "missing field `inner.id`"),
        (json!({"inner": [true]}), "`inner"),
        (json!({"inner": 3}), "`inner`: expected an object, but the integer `3` came"),
        (json!({"list": [1, "x"]}), "`list[1]`: expected a whole number"),
        (json!({"list": {}}), "`list`: expected a list, but an object came"),
        (json!({"map": {"k": []}}), "`map.k`: expected a whole number, but a list came"),
        (json!({"text": 3}), "`text`: expected a string, but the integer `3` came"),
        (json!({"level": "medium"}), "`level`: unknown variant `medium`, expected `low` or `high`"),
    ] {
        let message = kinds(&wrong).unwrap_err();
        assert!(message.contains(says) && message.contains("do not fit Kinds"), "{message}");
        assert!(message.ends_with("nothing was run"), "{message}");
    }
}

/// Take a place.
#[derive(Debug, Deserialize, JsonSchema, Tool)]
#[expect(dead_code, reason = "read by the derives only")]
struct Flat {
    #[serde(flatten)]
    inner: Inner,
    positive: Option<std::num::NonZeroU8>,
}

#[test]
fn errors_name_fields_of_flattened_structs_and_words_of_others() {
    let told = |wrong: Value| Flat::parse(&wrong.to_string()).unwrap_err().to_string();
    let message = told(json!({"id": true}));
    assert!(
        message.contains("`id`: expected a whole number from 0 to 4294967295, but the boolean `true`"),
        "{message}"
    );
    assert!(told(json!({})).contains("missing field `id`"));
    let message = told(json!({"id": 1, "positive": 0}));
    assert!(message.contains("`positive`: expected a whole number from 0 to 255 but not 0"), "{message}");
}

/// Take what types read out of text.
#[derive(Debug, Deserialize, JsonSchema, Tool)]
#[expect(dead_code, reason = "read by the derives only")]
struct Addresses {
    /// Where to.
    to: Option<std::net::IpAddr>,
    user: Option<BTreeMap<String, Vec<User>>>,
    other_than_zero: Option<std::num::NonZeroI32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[expect(dead_code, reason = "read by the derives only")]
struct User(String);

impl TryFrom<String> for User {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Err(if name.len() > 5 { format!("there is no user {name}") } else { "there are no users".to_owned() })
    }
}

#[test]
fn errors_of_types_tell_what_came_and_what_was_expected() {
    for (wrong, says) in [
        (
            json!({"to": "home"}),
            r#"Addresses: `to`: invalid IP address syntax (the string "home" came; expected: Where to. An IP address); nothing"#,
        ),
        (
            json!({"user": {"a": ["ada"]}}),
            r#"Addresses: `user.a[0]`: there are no users (the string "ada" came); nothing"#,
        ),
        (json!({"user": {"a": ["hopper"]}}), "Addresses: `user.a[0]`: there is no user hopper; nothing"),
        (
            json!({"other_than_zero": 0}),
            "expected a whole number from -2147483648 to 2147483647 but not 0, but the integer `0` came",
        ),
    ] {
        let message = Addresses::parse(&wrong.to_string()).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
    assert!(Addresses::parse(r#"{"to": "", "other_than_zero": "null"}"#).unwrap().to.is_none());
    let mark = 'ß';
    for length in [10, 60, 100_000] {
        let text = mark.to_string().repeat(length);
        for wrong in [json!({"to": text}), json!({"user": {&text: [text]}}), json!({"user": {"a": [text]}})] {
            let message = Addresses::parse(&wrong.to_string()).unwrap_err().to_string();
            let echoed = message.matches(mark).count() * mark.len_utf8();
            assert!((20..=ECHO).contains(&echoed), "{echoed}: {message}");
        }
    }
}

/// Take lists of fixed lengths, and a map by words.
#[derive(Debug, Deserialize, JsonSchema, Tool)]
#[expect(dead_code, reason = "read by the derives only")]
struct Fixed {
    span: Option<(i64, i64)>,
    corners: Option<[bool; 3]>,
    pair: Option<Pair>,
    by_level: Option<BTreeMap<Level, u8>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by the derives only")]
struct Pair(u8, u8);

#[test]
fn errors_tell_lengths_and_keys() {
    for (wrong, says) in [
        (json!({"span": [1]}), "Fixed: `span`: expected a list of 2, but a list of 1 came; nothing was run"),
        (json!({"span": [1, 2, 3]}), "Fixed: `span`: expected fewer entries, but a list of 3 came"),
        (json!({"corners": [true]}), "Fixed: `corners`: expected a list of 3, but a list of 1 came"),
        (json!({"pair": [1]}), "Fixed: `pair`: expected a list of 2, but a list of 1 came"),
        (
            json!({"by_level": {"low": []}}),
            "Fixed: `by_level.low`: expected a whole number from 0 to 255, but a list came",
        ),
    ] {
        let message = Fixed::parse(&wrong.to_string()).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
}

/// How much of the model's own `x`s a message repeats, in bytes.
fn echoed(wrong: &Value) -> usize {
    kinds(wrong).unwrap_err().matches('x').count()
}

#[test]
fn errors_never_echo_more_than_the_limit() {
    let long = "x".repeat(5000);
    let mut map = serde_json::Map::new();
    map.insert(long.clone(), json!(long));
    for wrong in [
        json!({"count": long}),
        json!({"map": map}),
        json!({"level": long}),
        json!({"inner": {"id": long}}),
        json!({"list": [long]}),
    ] {
        // `expected` holds one more
        assert!((20..=ECHO + 1).contains(&echoed(&wrong)), "{}", kinds(&wrong).unwrap_err());
    }
    let text = format!("[{long}");
    let message = Kinds::parse(&text).unwrap_err().to_string();
    assert!((20..=ECHO).contains(&message.matches('x').count()), "{message}");
}

/// Take nothing.
#[derive(Debug, Deserialize, JsonSchema, Tool)]
struct Unit;

/// Take nothing else.
#[derive(Debug, Deserialize, JsonSchema, Tool)]
#[serde(deny_unknown_fields)]
struct Closed {}

#[test]
fn tools_without_arguments() {
    for text in ["", "null", "{}", r#"{"extra": 1}"#] {
        assert!(Unit::parse(text).is_ok(), "{text}");
    }
    assert!(Closed::parse("").is_ok());
    assert!(Closed::parse(r#"{"extra": 1}"#).unwrap_err().message().contains("unknown field `extra`"));
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".*", inner, 0..4)
                .prop_map(|fields| Value::from(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn parse_object_is_total(text in prop_oneof![".*", r#"[{}\[\]",:\\a1` \n]*"#]) {
        if let Err(error) = parse_object(&text) {
            prop_assert!(error.message().len() < 600);
        }
    }

    #[test]
    fn objects_round_trip(fields in prop::collection::btree_map(".*", values(), 0..5)) {
        let object: Map<_, _> = fields.into_iter().collect();
        let text = Value::from(object.clone()).to_string();
        prop_assert_eq!(&parse_object(&text).unwrap(), &object);
        prop_assert_eq!(&parse_object(&Value::from(text.clone()).to_string()).unwrap(), &object);
        prop_assert_eq!(&parse_object(&format!("```json\n{text}\n```")).unwrap(), &object);
    }

    #[test]
    fn cut_off_objects_are_refused(fields in prop::collection::btree_map(".*", values(), 1..4), at in any::<prop::sample::Index>()) {
        let text = Value::from(fields.into_iter().collect::<Map<_, _>>()).to_string();
        let cuts: Vec<_> = text.char_indices().map(|(at, _)| at).skip(1).collect();
        let cut = &text[..cuts[at.index(cuts.len())]];
        prop_assert!(parse_object(cut).is_err(), "{}", cut);
    }

    #[test]
    fn tools_never_panic(value in values()) {
        let _ = kinds(&value);
    }
}

//! What the types that people write become.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{agrees, refused, rendered};

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derives alone")]
struct Scalars {
    /// A text.
    text: String,
    path: std::path::PathBuf,
    letter: char,
    small: u8,
    big: u64,
    signed: i32,
    float: f64,
    flag: bool,
    maybe: Option<u32>,
    #[serde(default)]
    defaulted: u32,
    positive: std::num::NonZeroU16,
    other_than_zero: std::num::NonZeroI32,
    c_string: std::ffi::CString,
}

#[test]
fn scalars() {
    let right = json!({"text": "", "path": "/a", "letter": "x", "small": 255, "big": u64::MAX, "signed": -1, "float": 1.5,
        "flag": true, "positive": 1, "other_than_zero": -1, "c_string": "a"});
    let with = |key: &str, value: Value| {
        let mut changed = right.clone();
        changed[key] = value;
        changed
    };
    let schema = agrees::<Scalars>(
        &[right.clone(), with("maybe", json!(3)), with("other", json!(3))],
        &[
            json!({}),
            json!([]),
            with("text", json!(1)),
            with("letter", json!("xy")),
            with("small", json!(256)),
            with("big", json!(-1)),
            with("signed", json!(1.5)),
            with("flag", json!("true")),
            with("maybe", json!("3")),
            with("positive", json!(0)),
        ],
    );
    let exact = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "A text."},
            "path": {"type": "string"},
            "letter": {"type": "string", "minLength": 1, "maxLength": 1},
            "small": {"type": "integer", "minimum": 0, "maximum": 255},
            "big": {"type": "integer", "minimum": 0},
            "signed": {"type": "integer"},
            "float": {"type": "number"},
            "flag": {"type": "boolean"},
            "maybe": {"type": "integer", "minimum": 0},
            "defaulted": {"type": "integer", "minimum": 0},
            "positive": {"type": "integer", "minimum": 1, "maximum": 65535},
            "other_than_zero": {"type": "integer", "description": "Not 0."},
            "c_string": {"type": "string"},
        },
        "required": ["text", "path", "letter", "small", "big", "signed", "float", "flag", "positive",
            "other_than_zero", "c_string"],
    });
    // As text: the order of the keys counts.
    assert_eq!(schema.to_string(), exact.to_string());
}

/// How bad it is.
#[derive(Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
    High,
}

#[derive(Deserialize, JsonSchema)]
enum Documented {
    /// No hurry,
    /// really.
    ///
    /// More about it.
    Later,
    /// At once.
    Now,
    Never,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derives alone")]
struct Enums {
    level: Level,
    /// The worst.
    worst: Option<Level>,
    /// When.
    when: Documented,
    maybe_when: Option<Documented>,
    all: Vec<Level>,
}

#[test]
fn string_enums() {
    let right = json!({"level": "low", "when": "Now", "all": ["high", "low"]});
    let schema = agrees::<Enums>(
        &[right],
        &[
            json!({"level": "Low", "when": "Now", "all": []}),
            json!({"level": "low", "when": "now", "all": []}),
            json!({"level": "low", "when": "Now", "all": ["x"]}),
        ],
    );
    let docs = "`Later`: No hurry, really.\n`Now`: At once.";
    assert_eq!(
        schema["properties"],
        json!({
            "level": {"type": "string", "description": "How bad it is.", "enum": ["low", "high"]},
            "worst": {"type": "string", "description": "The worst.", "enum": ["low", "high"]},
            "when": {"type": "string", "description": format!("When.\n{docs}"), "enum": ["Never", "Later", "Now"]},
            "maybe_when": {"type": "string", "description": docs, "enum": ["Never", "Later", "Now"]},
            "all": {
                "type": "array",
                "items": {"type": "string", "description": "How bad it is.", "enum": ["low", "high"]},
            },
        })
    );
    assert_eq!(schema["required"], json!(["level", "when", "all"]));
}

/// A point.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derives alone")]
struct Point {
    /// To the right.
    x: i64,
    y: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derives alone")]
struct Containers {
    /// Where.
    at: Point,
    maybe_at: Option<Box<Point>>,
    list: Vec<Point>,
    holes: Vec<Option<u8>>,
    pair: [bool; 2],
    span: (i64, i64),
    set: BTreeSet<String>,
    map: BTreeMap<String, Vec<bool>>,
    by_id: HashMap<u32, String>,
    by_level: BTreeMap<Level, bool>,
    nested: Vec<Vec<i64>>,
}

#[test]
fn containers() {
    let right = json!({"at": {"x": 1}, "list": [{"x": 1, "y": 2}], "holes": [1], "pair": [true, false], "span": [1, 2],
        "set": ["a"], "map": {"k": [true]}, "by_id": {"7": "x"}, "by_level": {"low": true}, "nested": [[1], []]});
    let with = |key: &str, value: Value| {
        let mut changed = right.clone();
        changed[key] = value;
        changed
    };
    let wrong = [
        with("at", json!({"y": 1})),
        with("maybe_at", json!({})),
        with("list", json!([1])),
        with("pair", json!([true])),
        with("span", json!([1, 2, 3])),
        with("map", json!({"k": true})),
        with("by_id", json!({"7": 7})),
        with("nested", json!([1])),
    ];
    let schema = agrees::<Containers>(std::slice::from_ref(&right), &wrong);
    let point = |description: &str| {
        json!({
            "type": "object",
            "description": description,
            "properties": {"x": {"type": "integer", "description": "To the right."}, "y": {"type": "integer"}},
            "required": ["x"],
        })
    };
    assert_eq!(
        schema["properties"],
        json!({
            "at": point("Where."),
            "maybe_at": point("A point."),
            "list": {"type": "array", "items": point("A point.")},
            "holes": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}},
            "pair": {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2},
            "span": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
            "set": {"type": "array", "items": {"type": "string"}},
            "map": {
                "type": "object",
                "properties": {},
                "additionalProperties": {"type": "array", "items": {"type": "boolean"}},
            },
            "by_id": {
                "type": "object",
                "description": "Keys match `^\\d+$`.",
                "properties": {},
                "additionalProperties": {"type": "string"},
            },
            "by_level": {"type": "object", "properties": {"high": {"type": "boolean"}, "low": {"type": "boolean"}}},
            "nested": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        })
    );
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derives alone")]
struct AnyValues {
    /// What to store.
    value: Value,
    bare: Value,
    object: serde_json::Map<String, Value>,
    list: Vec<Value>,
}

#[test]
fn json_values_always_have_a_description() {
    let right = json!({"value": null, "bare": [1], "object": {"k": 1}, "list": [1, "a"]});
    let schema = agrees::<AnyValues>(&[right], &[json!({"bare": 1, "object": {}, "list": []})]);
    let any = json!({"description": "Any JSON value."});
    assert_eq!(
        schema["properties"],
        json!({
            "value": {"description": "What to store."},
            "bare": any,
            "object": {"type": "object", "properties": {}, "additionalProperties": any},
            "list": {"type": "array", "items": any},
        })
    );
}

#[derive(Deserialize, JsonSchema)]
struct Unit;

#[derive(Deserialize, JsonSchema)]
struct Empty {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derives alone")]
struct Flattened {
    #[serde(flatten)]
    point: Point,
}

#[test]
fn roots() {
    let empty = json!({"type": "object", "properties": {}});
    assert_eq!(rendered::<Unit>(), empty);
    assert_eq!(rendered::<Empty>(), empty);
    let flattened = rendered::<Flattened>();
    assert_eq!(flattened["required"], json!(["x"]));
    assert_eq!(flattened.get("additionalProperties"), None);
    assert!(refused::<Level>().contains("not a string"));
    assert!(refused::<Vec<u8>>().contains("not an array"));
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derives alone")]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derives alone")]
enum Shapes {
    Circle { radius: f64 },
    Nothing,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code, reason = "read by the derives alone")]
enum Tagged {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "read by the derives alone")]
enum Either {
    Id(u64),
    Name(String),
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derives alone")]
struct Odd {
    #[serde(rename = "line no.")]
    line: u32,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derives alone")]
struct FlattenedOdd {
    #[serde(flatten)]
    odd: Odd,
}

#[derive(Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
enum OddKey {
    #[serde(rename = "größe")]
    Size,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derives alone")]
struct Holder<T> {
    inside: Vec<T>,
}

#[test]
fn what_cannot_be_said_plainly_is_refused_at_its_place() {
    let tree = refused::<Tree>();
    assert!(tree.starts_with("`children[]` is of a type that contains itself"), "{tree}");
    let tree = refused::<Holder<Tree>>();
    assert!(tree.starts_with("`inside[].children[]` is of a type that contains itself"), "{tree}");
    for refused in [refused::<Holder<Shapes>>(), refused::<Holder<Tagged>>(), refused::<Holder<Either>>()] {
        assert!(refused.starts_with("`inside[]` may be one of several types"), "{refused}");
    }
    assert!(refused::<Tagged>().starts_with("the schema may be one of several types"));
    assert!(refused::<Holder<(u8, String)>>().starts_with("`inside[]` is a tuple"));
    assert!(refused::<Holder<()>>().starts_with("`inside[]` can hold no value"));
    for (refused, place) in [
        (refused::<Holder<Odd>>(), "`inside[]` has a field named \"line no.\", which servers refuse"),
        (refused::<FlattenedOdd>(), "the schema has a field named \"line no.\", which servers refuse"),
        (refused::<Holder<BTreeMap<OddKey, u8>>>(), "`inside[]` has a field named \"größe\", which servers refuse"),
    ] {
        assert!(refused.starts_with(place) && refused.contains("serde(rename"), "{refused}");
    }
    for refused in [refused::<Holder<std::ffi::OsString>>(), refused::<Holder<Result<u8, String>>>()] {
        assert!(refused.contains("`#[schemars(with = \"String\")]`"), "{refused}");
    }
}

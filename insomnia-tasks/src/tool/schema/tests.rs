use std::collections::{BTreeMap, BTreeSet, HashMap};

use proptest::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

fn rendered<T: JsonSchema>() -> Value {
    plain(schema_for!(T).as_value()).unwrap()
}

fn refused<T: JsonSchema>() -> String {
    plain(schema_for!(T).as_value()).unwrap_err().to_string()
}

/// Whether the schema takes the value, after a check of the schema itself against the draft's own.
fn takes(schema: &Value, value: &Value) -> bool {
    jsonschema::draft202012::meta::validate(schema).unwrap();
    jsonschema::draft202012::new(schema).unwrap().is_valid(value)
}

/// The type's schema, when it takes exactly the values that the type takes.
fn agrees<T: JsonSchema + for<'de> Deserialize<'de>>(right: &[Value], wrong: &[Value]) -> Value {
    let schema = rendered::<T>();
    for value in right {
        assert!(takes(&schema, value), "schema refuses {value}");
        assert!(T::deserialize(value).is_ok(), "type refuses {value}");
    }
    for value in wrong {
        assert!(!takes(&schema, value), "schema takes {value}");
        assert!(T::deserialize(value).is_err(), "type takes {value}");
    }
    schema
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)] // read by the derives only
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
}

#[test]
fn scalars() {
    let right = json!({"text": "", "path": "/a", "letter": "x", "small": 255, "big": u64::MAX, "signed": -1, "float": 1.5,
        "flag": true, "positive": 1});
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
        },
        "required": ["text", "path", "letter", "small", "big", "signed", "float", "flag", "positive"],
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
#[allow(dead_code)]
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
#[allow(dead_code)]
struct Point {
    /// To the right.
    x: i64,
    y: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
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
    let schema = agrees::<Containers>(&[right.clone()], &wrong);
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
#[allow(dead_code)]
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
#[allow(dead_code)]
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
#[allow(dead_code)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Shapes {
    Circle { radius: f64 },
    Nothing,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code)]
enum Tagged {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Either {
    Id(u64),
    Name(String),
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
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
}

#[test]
fn hand_written_schemas() {
    let schema = |node: Value| plain(&json!({"type": "object", "properties": {"x": node}, "required": ["x", "gone"]}));
    let field = |node: Value| schema(node).unwrap()["properties"]["x"].clone();
    assert_eq!(
        field(json!({"type": ["string", "null"], "enum": ["a", null]})),
        json!({"type": "string", "enum": ["a"]})
    );
    assert_eq!(field(json!({"const": "a"})), json!({"type": "string", "enum": ["a"]}));
    assert_eq!(field(json!({"enum": [1, 2]})), json!({"type": "integer", "description": "One of 1, 2."}));
    assert_eq!(field(json!({"allOf": [{"type": "string"}]})), json!({"type": "string"}));
    assert_eq!(field(json!({"type": "integer", "exclusiveMinimum": 0})), json!({"type": "integer", "minimum": 1}));
    assert_eq!(
        field(json!({"type": "string", "pattern": "^a", "default": "a", "format": "uri", "title": "T"})),
        json!({"type": "string"})
    );
    // Some servers refuse a required field that is not declared.
    assert_eq!(schema(json!({"type": "string"})).unwrap()["required"], json!(["x"]));
    for wrong in [json!({"type": "text"}), json!({"$ref": "#/$defs/None"}), json!(3), json!({"enum": []})] {
        assert!(matches!(schema(wrong), Err(SchemaError::Invalid { .. })));
    }
    assert!(matches!(schema(json!(false)), Err(SchemaError::NoValue { .. })));
    assert!(matches!(schema(json!({"enum": ["a", 1]})), Err(SchemaError::Union { .. })));
}

#[test]
fn references_are_followed_and_bounded() {
    let schema = json!({
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/a%20b~1c", "description": "Own."}},
        "$defs": {"a b/c": {"type": "string", "description": "Other."}},
    });
    assert_eq!(plain(&schema).unwrap()["properties"]["x"], json!({"type": "string", "description": "Own."}));

    // Each level doubles what the one below holds.
    let mut defs = json!({"d0": {"type": "string"}});
    for level in 1..40 {
        let below = json!({"$ref": format!("#/$defs/d{}", level - 1)});
        defs[format!("d{level}")] = json!({"type": "object", "properties": {"a": below, "b": below}});
    }
    let bomb = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d39"}}, "$defs": defs});
    assert!(matches!(plain(&bomb), Err(SchemaError::TooLarge { .. })));
}

#[test]
fn long_descriptions_are_cut() {
    let schema = json!({"type": "object", "description": "ä".repeat(1024), "properties": {"x": {"description": "ä".repeat(1025)}}});
    let rendered = plain(&schema).unwrap();
    assert_eq!(rendered["description"], "ä".repeat(1024));
    assert_eq!(rendered["properties"]["x"]["description"], format!("{}…", "ä".repeat(1023)));
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({"type": "null"})),
        Just(json!({"type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255})),
        Just(json!({"type": "number", "title": "N"})),
        Just(json!({"type": "boolean", "default": false})),
        ".{0,12}".prop_map(|text| json!({"type": "string", "description": text})),
        prop::collection::vec("[a-c]{1,2}", 1..4).prop_map(|values| json!({"type": "string", "enum": values})),
        Just(json!({"oneOf": [{"const": "a", "description": "A"}, {"type": "string", "enum": ["b"]}]})),
        Just(json!({"$ref": "#"})),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            inner.clone().prop_map(|values| json!({"type": "object", "additionalProperties": values})),
            inner.clone().prop_map(|some| json!({"anyOf": [some, {"type": "null"}]})),
            prop::collection::vec(("[a-z]{1,3}", inner, any::<bool>()), 0..4).prop_map(|fields| {
                let required: Vec<_> = fields.iter().filter(|field| field.2).map(|field| field.0.clone()).collect();
                let properties: serde_json::Map<_, _> = fields.into_iter().map(|field| (field.0, field.1)).collect();
                json!({"type": "object", "properties": properties, "required": required})
            }),
        ]
    })
}

/// Every node has one type, or none and a description; no word of the raw form is left.
fn assert_plain(node: &Value) {
    let map = node.as_object().unwrap();
    match map.get("type") {
        Some(Value::String(_)) => {}
        other => assert!(other.is_none() && map.contains_key("description"), "{node}"),
    }
    for key in ["$schema", "$ref", "$defs", "title", "format", "default", "oneOf", "anyOf", "allOf", "const"] {
        assert!(!map.contains_key(key), "{key} in {node}");
    }
    assert_eq!(map.get("type") == Some(&json!("object")), map.contains_key("properties"), "{node}");
    let fields = map.get("properties").and_then(Value::as_object).into_iter().flat_map(|fields| fields.values());
    fields.chain(map.get("items")).chain(map.get("additionalProperties")).for_each(assert_plain);
}

proptest! {
    #[test]
    fn rendering_is_plain_and_idempotent(schema in schemas()) {
        if let Ok(rendered) = plain(&schema) {
            assert_plain(&rendered);
            prop_assert_eq!(plain(&rendered).unwrap().to_string(), rendered.to_string());
        }
    }
}

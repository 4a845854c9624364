//! Every shape that arguments may have, with values that fit it and values that do not.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    num::{NonZeroI32, NonZeroU16},
    path::PathBuf,
};

use insomnia_tasks::{Tool, ToolDefinition, ToolError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// A tool whose arguments have one of the shapes.
pub(crate) struct Shape {
    pub(crate) definition: ToolDefinition,
    /// Reads arguments as a call does, and writes what was read.
    pub(crate) parse: fn(&str) -> Result<Value, ToolError>,
    pub(crate) right: Vec<Value>,
    pub(crate) wrong: Vec<Value>,
    /// Whether strict mode can say it.
    pub(crate) strict: bool,
}

fn shape<T: Tool + Serialize>(right: &[Value], wrong: &[Value]) -> Shape {
    Shape {
        definition: T::definition(),
        parse: |arguments| Ok(serde_json::to_value(T::parse(arguments)?).unwrap()),
        right: right.to_vec(),
        wrong: wrong.to_vec(),
        strict: true,
    }
}

/// A shape that strict mode has no words for.
fn loose<T: Tool + Serialize>(right: &[Value], wrong: &[Value]) -> Shape {
    Shape { strict: false, ..shape::<T>(right, wrong) }
}

/// `right` with one field changed, for each of the changes.
fn but(right: &Value, changes: &[(&str, Value)]) -> Vec<Value> {
    let changed = |(key, value): &(&str, Value)| {
        let mut changed = right.clone();
        changed[*key] = value.clone();
        changed
    };
    changes.iter().map(changed).collect()
}

pub(crate) fn all() -> Vec<Shape> {
    vec![
        scalars(),
        shape::<Letter>(&[json!({"letter": "ä"})], &[json!({}), json!({"letter": 1})]),
        choices(),
        nested(),
        lists(),
        maps(),
        shape::<MapOfChoices>(
            &[json!({"by_level": {"low": true}}), json!({"by_level": {}})],
            &[json!({"by_level": {"low": "perhaps"}})],
        ),
        loose::<AnyValues>(
            &[json!({"value": null, "object": {"k": 1}, "list": [1, "a"]})],
            &[json!({"value": 1, "object": 3, "list": []}), json!({"object": {}, "list": []})],
        ),
        shape::<Flattened>(
            &[json!({"path": "a", "x": 1}), json!({"path": "a", "x": 1, "y": 2})],
            &[json!({"path": "a"}), json!({"x": 1}), json!({"path": "a", "x": "one"})],
        ),
        shape::<Newtypes>(&[json!({"path": "a"})], &[json!({"path": ["a"]}), json!({})]),
        shape::<Renamed>(
            &[json!({"firstLine": 3, "file": "a"})],
            &[json!({"first_line": 3, "file": "a"}), json!({"firstLine": 3})],
        ),
        shape::<Generic<Option<Point>>>(&[json!({"what": {"x": 1}}), json!({})], &[json!({"what": {}})]),
        shape::<Generic<String>>(&[json!({"what": ""})], &[json!({}), json!({"what": 1})]),
        times(),
        shape::<Defaults>(
            &[json!({}), json!({"limit": 3, "level": "low"}), json!({"from": 1})],
            &[json!({"limit": "few"}), json!({"level": "lowest"}), json!({"from": []})],
        ),
        shape::<Amounts>(
            &[json!({"amount": "1.50", "step": -1}), json!({"amount": "3", "step": 1, "most": "-4"})],
            &[json!({"amount": [1], "step": 1}), json!({"amount": "1", "step": 1.5}), json!({"step": 1})],
        ),
        shape::<Closed>(&[json!({"path": "a"})], &[json!({"path": 1})]),
        shape::<Unit>(&[json!({})], &[json!([]), json!(3)]),
        shape::<Empty>(&[json!({})], &[json!([]), json!(3)]),
    ]
}

/// Take scalars.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Scalars {
    /// A text.
    text: String,
    path: PathBuf,
    small: u8,
    big: u64,
    signed: i32,
    float: f64,
    flag: bool,
    maybe: Option<u32>,
    #[serde(default)]
    defaulted: u32,
    positive: NonZeroU16,
}

fn scalars() -> Shape {
    let right = json!({"text": "", "path": "/a", "small": 255, "big": u64::MAX, "signed": -1, "float": 1.5, "flag": true,
        "positive": 1});
    let changes = [
        ("text", json!(1)),
        ("path", json!({})),
        ("small", json!(256)),
        ("big", json!(-1)),
        ("signed", json!(1.5)),
        ("float", json!("much")),
        ("flag", json!("perhaps")),
        ("maybe", json!("three")),
        ("positive", json!(0)),
        ("small", Value::Null),
    ];
    let wrong = [but(&right, &changes), vec![json!({}), json!([])]].concat();
    shape::<Scalars>(
        &[vec![right.clone()], but(&right, &[("maybe", json!(3)), ("defaulted", json!(4))])].concat(),
        &wrong,
    )
}

/// Take a letter.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Letter {
    letter: char,
}

/// How bad it is.
#[derive(Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
    High,
}

#[derive(Deserialize, Serialize, JsonSchema)]
enum Documented {
    /// No hurry.
    Later,
    /// At once.
    Now,
    Never,
}

/// Take choices.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Choices {
    level: Level,
    /// The worst.
    worst: Option<Level>,
    /// When.
    when: Documented,
    maybe_when: Option<Documented>,
    all: Vec<Level>,
}

fn choices() -> Shape {
    let right = json!({"level": "low", "when": "Now", "all": ["high", "low"]});
    let changes = [
        ("level", json!("Low")),
        ("worst", json!("worse")),
        ("when", json!("now")),
        ("maybe_when", json!(1)),
        ("all", json!(["low", "x"])),
    ];
    shape::<Choices>(&[vec![right.clone()], but(&right, &[("worst", json!("high"))])].concat(), &but(&right, &changes))
}

/// A point.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Point {
    /// To the right.
    x: i64,
    y: Option<i64>,
}

/// Take structs in structs.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Nested {
    /// Where.
    at: Point,
    maybe_at: Option<Box<Point>>,
    list: Vec<Point>,
}

fn nested() -> Shape {
    let right = json!({"at": {"x": 1}, "list": [{"x": 1, "y": 2}]});
    let changes = [
        ("at", json!({"y": 1})),
        ("at", json!({"x": 1, "y": "up"})),
        ("maybe_at", json!({})),
        ("list", json!([1])),
        ("list", json!([{"x": 1}, {"x": null}])),
    ];
    shape::<Nested>(
        &[vec![right.clone()], but(&right, &[("maybe_at", json!({"x": 0}))])].concat(),
        &but(&right, &changes),
    )
}

/// Take lists.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Lists {
    nested: Vec<Vec<i64>>,
    holes: Vec<Option<u8>>,
    pair: [bool; 2],
    span: (i64, i64),
    set: BTreeSet<String>,
}

fn lists() -> Shape {
    let right = json!({"nested": [[1], []], "holes": [1], "pair": [true, false], "span": [1, 2], "set": ["a"]});
    let changes = [
        ("nested", json!([1])),
        ("holes", json!([256])),
        ("pair", json!([true])),
        ("span", json!([1, 2, 3])),
        ("set", json!([{}])),
    ];
    shape::<Lists>(std::slice::from_ref(&right), &but(&right, &changes))
}

/// Take maps.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Maps {
    map: BTreeMap<String, Vec<bool>>,
    by_id: BTreeMap<u32, String>,
    points: Option<BTreeMap<String, Point>>,
}

fn maps() -> Shape {
    let right = json!({"map": {"k": [true]}, "by_id": {"7": "x"}});
    let changes = [("map", json!({"k": "maybe"})), ("by_id", json!({"7": 7})), ("points", json!({"p": {"y": 1}}))];
    loose::<Maps>(std::slice::from_ref(&right), &but(&right, &changes))
}

/// Take a map of choices.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct MapOfChoices {
    by_level: BTreeMap<Level, bool>,
}

/// Take any values.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct AnyValues {
    /// What to store.
    value: Value,
    object: serde_json::Map<String, Value>,
    list: Vec<Value>,
}

/// Take the fields of another.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Flattened {
    path: String,
    #[serde(flatten)]
    point: Point,
}

/// A path below the root.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Below(PathBuf);

/// Take a newtype.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Newtypes {
    path: Below,
}

/// Take other names.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
#[serde(rename_all = "camelCase")]
struct Renamed {
    first_line: u32,
    #[serde(rename = "file", alias = "path")]
    file_path: String,
}

/// Take something.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
#[serde(bound = "T: Serialize + DeserializeOwned")]
struct Generic<T> {
    what: T,
}

/// Take times and others that are written as strings.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Times {
    at: chrono::DateTime<chrono::Utc>,
    /// The day.
    day: Option<chrono::NaiveDate>,
    id: uuid::Uuid,
    address: IpAddr,
}

fn times() -> Shape {
    let right = json!({"at": "2026-01-31T09:30:00Z", "id": "01890a5d-ac96-774b-bcce-b302099a8057", "address": "::1"});
    let changes = [("at", json!(1)), ("day", json!([])), ("id", json!(7)), ("address", json!({}))];
    shape::<Times>(
        &[vec![right.clone()], but(&right, &[("day", json!("2026-01-31"))])].concat(),
        &but(&right, &changes),
    )
}

/// Take what has defaults, and an option that a function reads.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Defaults {
    #[serde(default = "ten")]
    limit: Option<u32>,
    #[serde(default = "high")]
    level: Level,
    #[serde(deserialize_with = "whole")]
    from: Option<u32>,
}

fn ten() -> Option<u32> {
    Some(10)
}

fn high() -> Level {
    Level::High
}

fn whole<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Option::deserialize(deserializer)
}

/// Take amounts.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Amounts {
    /// In euros.
    amount: Amount,
    most: Option<Amount>,
    step: NonZeroI32,
}

/// A decimal number, which may be written as a string or as a number.
#[derive(Deserialize, Serialize)]
#[serde(try_from = "Value")]
struct Amount(String);

impl TryFrom<Value> for Amount {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.parse::<f64>().map(|_| Self(text)).map_err(|error| error.to_string())
    }
}

impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "number"], "pattern": r"^-?\d+(\.\d+)?$"})
    }
}

/// Take what is known and nothing else.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
#[serde(deny_unknown_fields)]
struct Closed {
    path: String,
}

/// Take nothing.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Unit;

/// Take nothing else.
#[derive(Deserialize, Serialize, JsonSchema, Tool)]
struct Empty {}

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
};

use insomnia_tasks::{task::TaskStore, wire::Usage};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use super::line::Line;

const PAGE: &str = include_str!("../../../../../docs/chat-json.md");
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/chat-json.schema.json");

/// How the library prints a task.
#[derive(JsonSchema)]
#[allow(dead_code)] // only its schema is of use
pub(super) struct TaskShape {
    /// Its number, never given again in a session.
    taskid: u64,
    status: Status,
    subject: String,
    description: String,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code)] // only its schema is of use
enum Status {
    Pending,
    InProgress,
    Completed,
    Deleted,
}

/// How the library prints token counts.
#[derive(JsonSchema)]
#[allow(dead_code)] // only its schema is of use
pub(super) struct UsageShape {
    /// Those of the request.
    prompt_tokens: Option<u64>,
    /// Those of the answer, reasoning included.
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    /// Those of the request that came from a cache.
    cached_tokens: Option<u64>,
    /// Those of the answer that were spent on reasoning.
    reasoning_tokens: Option<u64>,
}

fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Line<'static>>().to_value()
}

/// The names in backticks of a table's cell.
fn names(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn keys(schema: &Value) -> BTreeSet<String> {
    schema["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn the_schema_is_that_of_the_code() {
    let now = schema();
    if env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(SCHEMA, serde_json::to_string_pretty(&now).unwrap() + "\n").unwrap();
    }
    // as values: the order of keys is a matter of how serde_json is built
    let before: Value = serde_json::from_str(&fs::read_to_string(SCHEMA).unwrap()).unwrap();
    assert_eq!(now, before, "the events changed; if that was meant, run `just chat-schema`");
}

#[test]
fn the_librarys_types_look_as_the_schema_says() {
    let schema = schema();
    let printed = |value: Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let task = TaskStore::new().create("x", "").unwrap();
    assert_eq!(printed(serde_json::to_value(task).unwrap()), keys(&schema["$defs"]["TaskShape"]));
    assert_eq!(printed(serde_json::to_value(Usage::default()).unwrap()), keys(&schema["$defs"]["UsageShape"]));
}

#[test]
fn the_page_lists_every_event_with_its_fields() {
    let schema = schema();
    let printed: BTreeMap<_, BTreeSet<_>> = schema["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            let event = line["properties"]["event"]["const"].as_str().unwrap().to_owned();
            (event, keys(line).into_iter().filter(|field| field != "event").collect())
        })
        .collect();
    let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
    let documented: BTreeMap<_, _> = rows
        .map(|row| {
            let cells: Vec<_> = row.split('|').collect();
            (names(cells[1]).into_iter().next().unwrap(), names(cells[3]))
        })
        .collect();
    assert_eq!(documented, printed);
    assert!(printed.len() > 10);
}

#[test]
fn the_page_lists_every_reason_and_kind() {
    let schema = schema();
    for (name, introduced) in [("Reason", "has one of these reasons: "), ("Kind", "is of one of these kinds: ")] {
        let words: BTreeSet<_> = schema["$defs"][name]["enum"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap().to_owned())
            .collect();
        let paragraph = PAGE.split(introduced).nth(1).unwrap().split("\n\n").next().unwrap();
        let listed: BTreeSet<_> = names(paragraph).into_iter().filter(|word| word != "requests_ago").collect();
        assert_eq!(listed, words);
    }
}

//! Fields of a flattened struct are arguments like the others.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Range {
    from: Option<u32>,
    to: i64,
}

/// Do it.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    path: String,
    #[serde(flatten)]
    range: Range,
}

fn main() {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"},"from":{"type":"integer","minimum":0},"to":{"type":"integer"}},"required":["path","to"]}"#;
    assert_eq!(T::definition().parameters().get(), schema);
    let read = T::parse(r#"{"path": "a", "to": 2}"#).unwrap();
    assert!(read.path == "a" && read.range.from.is_none() && read.range.to == 2);
}

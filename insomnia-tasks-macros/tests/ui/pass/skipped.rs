//! What serde skips is no argument, whatever its type.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Do it.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    path: String,
    #[serde(skip)]
    done: Option<fn()>,
}

fn main() {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
    assert_eq!(T::definition().parameters().get(), schema);
    let read = T::parse(r#"{"path": "a", "done": 1}"#).unwrap();
    assert!(read.path == "a" && read.done.is_none());
}

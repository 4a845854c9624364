//! A newtype is what it holds.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

/// A path below the root.
#[derive(Deserialize, JsonSchema)]
struct Below(PathBuf);

/// Do it.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    path: Below,
}

fn main() {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string","description":"A path below the root."}},"required":["path"]}"#;
    assert_eq!(T::definition().parameters().get(), schema);
    let read = T::parse(r#"{"path": "a"}"#).unwrap();
    assert!(read.path.0.ends_with("a"));
}

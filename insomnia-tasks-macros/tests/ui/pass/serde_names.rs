//! The names that serde reads are those that the model is told.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Do it.
#[derive(Deserialize, JsonSchema, Tool)]
#[serde(rename_all = "camelCase")]
struct T {
    first_line: u32,
    #[serde(rename = "file", alias = "path")]
    file_path: String,
}

fn main() {
    let schema = r#"{"type":"object","properties":{"firstLine":{"type":"integer","minimum":0},"file":{"type":"string"}},"required":["firstLine","file"]}"#;
    assert_eq!(T::definition().parameters().get(), schema);
    let read = T::parse(r#"{"firstLine": 3, "path": "a"}"#).unwrap();
    assert!(read.first_line == 3 && read.file_path == "a");
}

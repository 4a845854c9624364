//! A field with a default is optional.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Do it.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    #[serde(default)]
    a: bool,
    #[serde(default = "seven")]
    b: i64,
}

fn seven() -> i64 {
    7
}

fn main() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"integer"}}}"#;
    assert_eq!(T::definition().parameters().get(), schema);
    let read = T::parse(r#"{}"#).unwrap();
    assert!(!read.a && read.b == 7);
}

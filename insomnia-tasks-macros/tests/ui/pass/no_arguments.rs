//! A unit struct takes no arguments, as one without fields.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Do it.
#[derive(Deserialize, JsonSchema, Tool)]
struct T;

/// Do that.
#[derive(Deserialize, JsonSchema, Tool)]
struct Empty {}

fn main() {
    let schema = r#"{"type":"object","properties":{}}"#;
    assert_eq!(T::definition().parameters().get(), schema);
    let read = T::parse(r#"null"#).unwrap();
    assert!({ let T = read; Empty::parse("").is_ok() });
}

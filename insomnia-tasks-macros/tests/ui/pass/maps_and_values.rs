//! Maps take any keys, a JSON value takes anything.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

use std::collections::BTreeMap;

/// Do it.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    labels: BTreeMap<String, u8>,
    /// What to keep.
    value: serde_json::Value,
}

fn main() {
    let schema = r#"{"type":"object","properties":{"labels":{"type":"object","properties":{},"additionalProperties":{"type":"integer","minimum":0,"maximum":255}},"value":{"description":"What to keep."}},"required":["labels","value"]}"#;
    assert_eq!(T::definition().parameters().get(), schema);
    let read = T::parse(r#"{"labels": {"a": 1}, "value": [null]}"#).unwrap();
    assert!(read.labels["a"] == 1 && read.value.is_array());
}

//! Lists, sets, arrays, and tuples of one type.
#![deny(warnings)]

use std::collections::BTreeSet;

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Do it.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    names: Vec<String>,
    rows: Option<Vec<Vec<i64>>>,
    set: BTreeSet<u8>,
    corners: [bool; 2],
    span: (i64, i64),
}

fn main() {
    let schema = r#"{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"rows":{"type":"array","items":{"type":"array","items":{"type":"integer"}}},"set":{"type":"array","items":{"type":"integer","minimum":0,"maximum":255}},"corners":{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2},"span":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2}},"required":["names","set","corners","span"]}"#;
    assert_eq!(T::definition().parameters().get(), schema);
    let read = T::parse(r#"{"names": ["a"], "rows": [[1]], "set": ["2", 2], "corners": [true, false], "span": [3, 4]}"#);
    let read = read.unwrap();
    assert_eq!((read.names.len(), read.rows, read.set.len()), (1, Some(vec![vec![1]]), 1));
    assert_eq!((read.corners, read.span), ([true, false], (3, 4)));
}

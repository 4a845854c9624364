#![allow(unreachable_patterns)] // what the derive of serde makes of it
use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    path: String,
    #[serde(rename = "path")]
    other: String,
}

fn main() {
    let _ = T::definition();
}

//! serde takes a wrong value in such a struct for a struct that is not there.
use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Range {
    from: u32,
}

/// Do it.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    #[serde(flatten)]
    range: Option<Range>,
}

fn main() {}

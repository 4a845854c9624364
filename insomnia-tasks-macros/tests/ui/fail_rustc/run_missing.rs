use std::sync::Arc;

use insomnia_tasks::{Tool, ToolSet};
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct Read {}

fn main() {
    let _ = ToolSet::new().add::<Read, str>(Arc::from("state"));
}

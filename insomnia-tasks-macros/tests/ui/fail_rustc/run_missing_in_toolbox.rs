use std::sync::Arc;

use insomnia_tasks::{Tool, ToolSet, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct Read {}

#[derive(Toolbox)]
enum Tools {
    Read(Read),
}

fn main() {
    let _ = ToolSet::new().add_toolbox::<Tools, str>(Arc::from("state"));
}

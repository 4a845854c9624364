use insomnia_tasks::{Tool, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct Read {}

#[derive(Toolbox)]
#[tool(description = "Reads and writes.")]
enum Tools {
    Read(Read),
}

fn main() {
    let _ = Tools::definitions();
}

use insomnia_tasks::{Tool, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct Read {}

/// Load.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = "Read")]
struct Load {}

#[derive(Toolbox)]
enum Tools {
    Read(Read),
    Load(Load),
}

fn main() {
    let _ = Tools::definitions();
}

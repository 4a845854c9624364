use insomnia_tasks::{Tool, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(crate = "my tasks")]
struct Read {}

#[derive(Toolbox)]
#[tool(crate = "")]
enum Tools {
    Read(Read),
}

fn main() {
    let _ = (Read::definition(), Tools::definitions());
}

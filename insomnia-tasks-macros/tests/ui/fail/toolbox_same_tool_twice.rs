use insomnia_tasks::{Tool, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct Read {}

#[derive(Toolbox)]
enum Tools {
    Read(Read),
    Again(Read),
}

fn main() {
    let _ = Tools::definitions();
}

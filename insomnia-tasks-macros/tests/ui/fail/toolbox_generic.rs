use insomnia_tasks::{Tool, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct Read {}

#[derive(Toolbox)]
enum Tools<T = Read> {
    Read(T),
}

fn main() {
    let _ = Tools::<Read>::definitions();
}

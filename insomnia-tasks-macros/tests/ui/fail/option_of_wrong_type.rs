use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = 3)]
struct T {}

fn main() {
    let _ = T::definition();
}

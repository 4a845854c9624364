use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = "2nd")]
struct T {}

fn main() {
    let _ = T::definition();
}

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool]
struct T {}

fn main() {
    let _ = T::definition();
}

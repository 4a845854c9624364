use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    #[tool(description = "Which file.")]
    path: String,
}

fn main() {
    let _ = T::definition();
}

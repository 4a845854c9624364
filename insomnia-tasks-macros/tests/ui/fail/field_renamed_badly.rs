use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    #[serde(rename = "the path")]
    path: String,
}

fn main() {
    let _ = T::definition();
}

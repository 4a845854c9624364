use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    spans: Vec<(u32, String)>,
}

fn main() {
    let _ = T::definition();
}

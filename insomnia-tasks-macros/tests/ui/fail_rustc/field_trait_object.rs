use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    source: Box<dyn std::fmt::Debug>,
}

fn main() {
    let _ = T::definition();
}

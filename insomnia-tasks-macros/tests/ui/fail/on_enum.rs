use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
enum T {
    A { path: String },
}

fn main() {
    let _ = T::definition();
}

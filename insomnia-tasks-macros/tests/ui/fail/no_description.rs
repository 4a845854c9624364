use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    path: String,
}

fn main() {
    let _ = T::definition();
}

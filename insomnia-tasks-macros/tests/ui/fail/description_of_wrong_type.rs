use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, Tool)]
#[tool(description = 3)]
struct T {}

fn main() {
    let _ = T::definition();
}

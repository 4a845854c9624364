use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = "1", colour = "red")]
struct T(#[tool(description = "Which file.")] String);

fn main() {
    let _ = T::definition();
}

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

const DESCRIPTION: &str = " \n";

#[derive(Deserialize, JsonSchema, Tool)]
#[tool(description = DESCRIPTION)]
struct T {}

fn main() {
    let _ = T::definition();
}

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[doc = include_str!("../fail/long_description.rs")]
#[derive(Deserialize, JsonSchema, Tool)]
struct T {}

fn main() {
    let _ = T::definition();
}

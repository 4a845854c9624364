use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Measure.
#[derive(Deserialize, JsonSchema, Tool)]
struct Größe {}

type T = Größe;

fn main() {
    let _ = T::definition();
}

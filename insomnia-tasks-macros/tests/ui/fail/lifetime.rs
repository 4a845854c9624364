use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct T<'a> {
    path: std::borrow::Cow<'a, str>,
}

fn main() {
    let _ = T::definition();
}

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    nothing: (),
    #[tool(name = "p")]
    path: String,
    spans: (u8, String),
}

fn main() {
    let _ = T::definition();
}

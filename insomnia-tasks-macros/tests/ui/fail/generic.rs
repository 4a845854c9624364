use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct T<P> {
    path: P,
}

fn main() {
    let _ = T::<String>::definition();
}

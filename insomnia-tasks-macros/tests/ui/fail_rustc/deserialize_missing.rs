use insomnia_tasks::Tool;
use schemars::JsonSchema;

/// Do it.
#[derive(JsonSchema, Tool)]
struct T {
    path: String,
}

fn main() {}

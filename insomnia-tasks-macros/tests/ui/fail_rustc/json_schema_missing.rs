use insomnia_tasks::Tool;
use serde::Deserialize;

/// Do it.
#[derive(Deserialize, Tool)]
struct T {
    path: String,
}

fn main() {}

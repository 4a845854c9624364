use insomnia_tasks::{IntoToolOutput, Run, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
struct Read {}

impl Run<str> for Read {
    async fn run(self, _: &str) -> Result<impl IntoToolOutput, ToolError> {
        Ok(vec![1])
    }
}

fn main() {}

//! `impl IntoToolOutput` gives no warning; a concrete output is allowed too.
#![deny(warnings)]

use insomnia_tasks::{IntoToolOutput, Run, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
pub struct Read {}

impl Run<str> for Read {
    async fn run(self, state: &str) -> Result<impl IntoToolOutput, ToolError> {
        Ok(state.to_owned())
    }
}

impl Run<u32> for Read {
    #[allow(refining_impl_trait, reason = "a concrete output is allowed to be named")]
    async fn run(self, state: &u32) -> Result<String, ToolError> {
        Ok(state.to_string())
    }
}

fn main() {}

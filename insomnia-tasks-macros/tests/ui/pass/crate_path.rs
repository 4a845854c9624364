//! The library is found where it was said to be.
#![deny(warnings)]

mod prelude {
    pub use insomnia_tasks as tasks;
}

use prelude::tasks::{IntoToolOutput, Run, Tool, ToolError, Toolbox, tool::RunToolbox};
use schemars::JsonSchema;
use serde::Deserialize;

/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(crate = "prelude::tasks")]
struct Read {
    path: String,
}

/// Find.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = "find", crate = "crate::prelude::tasks")]
#[serde(bound = "T: serde::de::DeserializeOwned")]
struct Find<T> {
    what: T,
}

impl Run<()> for Read {
    async fn run(self, _: &()) -> Result<impl IntoToolOutput, ToolError> {
        Ok(self.path)
    }
}

impl Run<()> for Find<u32> {
    async fn run(self, _: &()) -> Result<impl IntoToolOutput, ToolError> {
        Ok(self.what.to_string())
    }
}

#[derive(Toolbox)]
#[tool(crate = "::insomnia_tasks")]
enum Tools {
    Read(Read),
    Find(Find<u32>),
}

#[derive(Toolbox)]
#[tool(crate = "self::prelude::tasks")]
enum Others {
    Read(Read),
}

fn runs<T: RunToolbox<()>>() -> usize {
    T::definitions().len()
}

fn main() {
    assert_eq!((runs::<Tools>(), runs::<Others>()), (2, 1));
}

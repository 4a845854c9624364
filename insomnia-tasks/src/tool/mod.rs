//! Tools: what the model may call, how its calls are read, and what it gets back.
//!
//! A tool is a struct whose fields are its arguments. `#[derive(Tool)]` gives it a name, a description and a JSON schema
//! that every server takes; its behaviour is an `impl Run<State>` written by hand, for any state. `#[derive(Toolbox)]` on
//! an enum makes one type out of several tools. A [`ToolSet`] forgets the types, which is what a chat loop wants.
//!
//! The [guide](crate::guide::tools) begins with a tool in ten lines. Arguments are read leniently (see [`arguments`]), and every
//! failure is a [`ToolError`] that tells the model what to do. There is no I/O and no async runtime in here.
//!
//! ```
//! use insomnia_tasks::{IntoToolOutput, Run, Tool, ToolError};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! /// Add two integers.
//! #[derive(Deserialize, JsonSchema, Tool)]
//! struct Add {
//!     /// The first summand.
//!     a: i64,
//!     /// The second summand; 1 if absent.
//!     b: Option<i64>,
//! }
//!
//! impl Run<()> for Add {
//!     async fn run(self, _: &()) -> Result<impl IntoToolOutput, ToolError> {
//!         let sum = self.a.checked_add(self.b.unwrap_or(1)).ok_or("the sum is too large")?;
//!         Ok(sum.to_string())
//!     }
//! }
//!
//! assert_eq!(Add::NAME, "Add");
//! assert_eq!(Add::definition().description(), "Add two integers.");
//! assert_eq!(Add::parse(r#"{"a": "2"}"#)?.a, 2);
//! # Ok::<(), ToolError>(())
//! ```

pub mod arguments;
mod boxed;
mod clip;
mod definition;
mod error;
mod names;
mod output;
#[doc(hidden)]
pub mod private;
mod run;
pub mod schema;
mod set;
#[allow(clippy::module_inception)] // the trait's own file
mod tool;
mod toolbox;

pub use definition::{DefinitionError, ToolDefinition};
pub use error::ToolError;
pub use insomnia_tasks_macros::{Tool, Toolbox};
pub use output::{IntoToolOutput, Json, ToolOutput};
pub use run::Run;
pub use set::{AddToolError, ToolFuture, ToolSet};
pub use tool::Tool;
pub use toolbox::{DecodeError, RunToolbox, Toolbox};

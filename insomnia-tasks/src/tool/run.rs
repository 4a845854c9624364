use super::{error::ToolError, output::IntoToolOutput, tool::Tool};

/// What a tool does, given a state `S` of the host's choice.
///
/// One tool may run on several types of state, and a state may be unsized (`dyn Workspace`). Write the method as an
/// `async fn` that returns `Result<impl IntoToolOutput, ToolError>`. A concrete type in its place, such as
/// `Result<String, ToolError>`, works too, but rustc then warns (`refining_impl_trait`) that the signature promises more
/// than the trait does.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use insomnia_tasks::{IntoToolOutput, Run, Tool, ToolError};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// Count up.
/// #[derive(Deserialize, JsonSchema, Tool)]
/// struct Count {
///     /// By how much.
///     step: u32,
/// }
///
/// impl Run<AtomicU32> for Count {
///     async fn run(self, counter: &AtomicU32) -> Result<impl IntoToolOutput, ToolError> {
///         if self.step == 0 {
///             return Err("`step` must be at least 1".into());
///         }
///         let before = counter.fetch_add(self.step, Ordering::Relaxed);
///         Ok(format!("was {before}"))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the tool `{Self}` cannot run on the state `{S}`",
    label = "no `impl Run<{S}> for {Self}`",
    note = "say what it does: `impl Run<{S}> for {Self} {{ async fn run(self, state: &{S}) -> Result<impl IntoToolOutput, ToolError> {{ .. }} }}`"
)]
pub trait Run<S: ?Sized>: Tool {
    /// Runs one call.
    ///
    /// # Errors
    /// What the model should know and do about a failure. It is sent back as the result of the call.
    fn run(self, state: &S) -> impl Future<Output = Result<impl IntoToolOutput, ToolError>> + Send;
}

use serde::Serialize;
use serde_json::Value;

use super::error::ToolError;

/// What the model sees of a tool call that went well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    text: String,
}

impl ToolOutput {
    /// An output of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, taken out.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// What a tool may return: text, a [`Value`], or anything serializable in a [`Json`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned by a tool",
    label = "not an output of a tool",
    note = "return a `String`, a `&'static str`, a `serde_json::Value` or a `ToolOutput`, or wrap it: `Json({Self})`"
)]
pub trait IntoToolOutput {
    /// The output that the model gets.
    ///
    /// # Errors
    /// If the value cannot be serialized.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

/// Returns a value as compact JSON.
///
/// ```
/// use insomnia_tasks::{IntoToolOutput, tool::Json};
///
/// let output = Json(vec![Some(1), None]).into_tool_output()?;
/// assert_eq!(output.text(), "[1,null]");
/// # Ok::<(), insomnia_tasks::ToolError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(self))
    }
}

impl IntoToolOutput for &'static str {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(self))
    }
}

impl IntoToolOutput for Value {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(self.to_string()))
    }
}

impl<T: Serialize> IntoToolOutput for Json<T> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        match serde_json::to_string(&self.0) {
            Ok(text) => Ok(ToolOutput { text }),
            Err(error) => Err(ToolError::new(format!("the tool's result cannot be written as JSON: {error}"))),
        }
    }
}

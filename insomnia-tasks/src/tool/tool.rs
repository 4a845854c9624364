use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{
    arguments,
    definition::{DefinitionError, ToolDefinition},
    error::ToolError,
};

/// A tool that the model may call: the type of its arguments, with a name and a description.
///
/// Derive it on a struct. The struct's name is the tool's name, its doc comment is the description that the model
/// reads, and the doc comments of the fields describe the parameters. Lines of a doc comment are joined into paragraphs.
/// `#[tool(name = "...")]` and `#[tool(description = "...")]` override. A description may also be `include_str!(..)`, and with the
/// attribute any constant; it is told as it is, and its length is checked at compile time. `#[tool(crate = "...")]` is the path to this crate, where
/// it goes by another name; serde and schemars have an attribute of that name, too.
///
/// A tool may be generic over types; each has its own definition, so give only one of them to a set of tools.
///
/// A field may be a string, a number, a boolean, an enum without data, a struct of such fields, a list or a map of them, an
/// `Option` of them, or a `serde_json::Value`. A field that is an `Option` or has a serde default is optional; null in it is
/// absence, so that the default counts even if it is not `None`. A type that contains itself, an enum whose variants carry data, and a
/// tuple of different types have no schema that every server takes: see [`Tool::try_definition`].
///
/// ```
/// use insomnia_tasks::Tool;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// Read a text file of the workspace.
/// #[derive(Deserialize, JsonSchema, Tool)]
/// #[tool(name = "read_file")]
/// struct ReadFile {
///     /// Path below the workspace root.
///     path: String,
///     /// First line to read, from 1.
///     line: Option<u32>,
/// }
///
/// let definition = ReadFile::definition();
/// assert_eq!(definition.name(), "read_file");
/// assert_eq!(definition.description(), "Read a text file of the workspace.");
///
/// let call = ReadFile::parse(r#"{"path": "README.md", "line": "3"}"#)?;
/// assert_eq!((call.path.as_str(), call.line), ("README.md", Some(3)));
/// # Ok::<(), insomnia_tasks::ToolError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "derive it on a struct of your own: `#[derive(Deserialize, JsonSchema, Tool)]`"
)]
pub trait Tool: DeserializeOwned + JsonSchema + Send + 'static {
    /// The name by which the model calls the tool.
    const NAME: &'static str;

    /// What the tool does, told to the model.
    const DESCRIPTION: &'static str;

    /// The definition that is sent to the model. The derived form renders it once.
    ///
    /// # Errors
    /// If the arguments' schema cannot be told to every server, such as a type that contains itself.
    fn try_definition() -> Result<ToolDefinition, DefinitionError> {
        ToolDefinition::of::<Self>()
    }

    /// The definition that is sent to the model.
    ///
    /// # Panics
    /// Where [`Tool::try_definition`] is an error. That depends on the type alone, so it shows at the first use; the
    /// message names the tool and the field.
    #[allow(clippy::panic)] // a mistake in the program, see above
    fn definition() -> ToolDefinition {
        Self::try_definition().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Reads the arguments of a call, leniently: see [`arguments`].
    ///
    /// # Errors
    /// If they are not one JSON object or do not fit the type. The message names the field and says that nothing was run.
    fn parse(arguments: &str) -> Result<Self, ToolError> {
        arguments::parse(arguments)
    }
}

use super::{
    definition::{DefinitionError, ToolDefinition},
    error::ToolError,
    names,
    output::ToolOutput,
};

/// Several tools as one type: an enum whose variants hold one tool each.
///
/// The derive also writes [`RunToolbox`], which hands each call to the variant's [`Run`](super::Run). A host that wants
/// to treat some tools differently matches on the decoded enum itself; the compiler then knows whether all are covered.
/// A variant may hold its tool in a `Box`. Two tools of the same name are refused at compile time. `#[tool(crate = "...")]` is the path to this crate, where it goes
/// by another name.
///
/// ```
/// use insomnia_tasks::{Tool, Toolbox};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// Open the door.
/// #[derive(Deserialize, JsonSchema, Tool)]
/// struct Open {}
///
/// /// Wait.
/// #[derive(Deserialize, JsonSchema, Tool)]
/// struct Wait {
///     /// For how long.
///     seconds: u32,
/// }
///
/// #[derive(Toolbox)]
/// enum DoorTools {
///     Open(Open),
///     Wait(Wait),
/// }
///
/// assert_eq!(DoorTools::definitions().len(), 2);
/// match DoorTools::decode("Wait", r#"{"seconds": 5}"#)? {
///     DoorTools::Open(Open {}) => unreachable!(),
///     DoorTools::Wait(wait) => assert_eq!(wait.seconds, 5),
/// }
/// # Ok::<(), insomnia_tasks::tool::DecodeError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a toolbox",
    label = "not a toolbox",
    note = "derive it on an enum whose variants hold one tool each: `#[derive(Toolbox)]`"
)]
pub trait Toolbox: Sized + Send + 'static {
    /// The definitions of the tools, in declared order.
    ///
    /// # Errors
    /// If the schema of one of them cannot be told to every server.
    fn try_definitions() -> Result<Vec<ToolDefinition>, DefinitionError>;

    /// The definitions of the tools, in declared order.
    ///
    /// # Panics
    /// Where [`Toolbox::try_definitions`] is an error, which depends on the types alone and shows at the first use.
    #[allow(clippy::panic)] // a mistake in the program, see above
    fn definitions() -> Vec<ToolDefinition> {
        Self::try_definitions().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Reads a call of the model.
    ///
    /// # Errors
    /// If there is no such tool, or the arguments do not fit it.
    fn decode(name: &str, arguments: &str) -> Result<Self, DecodeError>;
}

/// A [`Toolbox`] whose tools all run on the state `S`. It comes with the derive.
#[diagnostic::on_unimplemented(
    message = "the toolbox `{Self}` cannot run on the state `{S}`",
    label = "not every tool of it can run on `{S}`",
    note = "write `impl Run<{S}>` for each of its tools; `{S}` must also be `Sync`"
)]
pub trait RunToolbox<S: ?Sized>: Toolbox {
    /// Runs one call.
    ///
    /// # Errors
    /// What the tool says. It is sent back to the model as the result of the call.
    fn run(self, state: &S) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// Why a call of the model could not be read. Its text is meant for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// There is no tool of that name.
    #[error("{}", names::unknown_tool(name, known.iter().copied()))]
    Unknown {
        /// The name that the model gave.
        name: String,
        /// The names of the tools there are.
        known: Vec<&'static str>,
    },
    /// The arguments do not fit the tool.
    #[error(transparent)]
    Arguments(#[from] ToolError),
}

impl From<DecodeError> for ToolError {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Arguments(error) => error,
            unknown @ DecodeError::Unknown { .. } => ToolError::new(unknown.to_string()),
        }
    }
}

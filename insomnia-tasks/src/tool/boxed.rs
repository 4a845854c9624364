use super::{
    definition::{DefinitionError, ToolDefinition},
    error::ToolError,
    output::IntoToolOutput,
    run::Run,
    tool::Tool,
};

/// So that a large tool does not make a whole toolbox large.
impl<T: Tool> Tool for Box<T> {
    const NAME: &'static str = T::NAME;
    const DESCRIPTION: &'static str = T::DESCRIPTION;

    fn try_definition() -> Result<ToolDefinition, DefinitionError> {
        T::try_definition()
    }

    fn parse(arguments: &str) -> Result<Self, ToolError> {
        T::parse(arguments).map(Box::new)
    }
}

impl<S: ?Sized, T: Run<S>> Run<S> for Box<T> {
    fn run(self, state: &S) -> impl Future<Output = Result<impl IntoToolOutput, ToolError>> + Send {
        (*self).run(state)
    }
}

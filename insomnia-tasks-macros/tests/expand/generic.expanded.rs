#[automatically_derived]
impl<T, const N: usize> ::insomnia_tasks::__private::Tool for Find<T, N>
where
    Find<T, N>: ::insomnia_tasks::__private::ToolArguments,
    T: Default,
{
    const NAME: &'static ::core::primitive::str = "Find";
    const DESCRIPTION: &'static ::core::primitive::str = "Find it.";
    fn try_definition() -> ::core::result::Result<
        ::insomnia_tasks::__private::ToolDefinition,
        ::insomnia_tasks::__private::DefinitionError,
    > {
        ::insomnia_tasks::__private::definition_of_generic::<Self>()
    }
}

#[automatically_derived]
impl ::insomnia_tasks::__private::Tool for ReadFile {
    const NAME: &'static ::core::primitive::str = "ReadFile";
    const DESCRIPTION: &'static ::core::primitive::str = "Read a text file of the workspace.\nNot for folders.";
    fn try_definition() -> ::core::result::Result<
        ::insomnia_tasks::__private::ToolDefinition,
        ::insomnia_tasks::__private::DefinitionError,
    > {
        static DEFINITION: ::std::sync::OnceLock<
            ::core::result::Result<
                ::insomnia_tasks::__private::ToolDefinition,
                ::insomnia_tasks::__private::DefinitionError,
            >,
        > = ::std::sync::OnceLock::new();
        ::core::clone::Clone::clone(
            DEFINITION
                .get_or_init(::insomnia_tasks::__private::ToolDefinition::of::<Self>),
        )
    }
}

#[automatically_derived]
impl ::insomnia_tasks::__private::Tool for Now {
    const NAME: &'static ::core::primitive::str = "Now";
    const DESCRIPTION: &'static ::core::primitive::str = "Tell the time.";
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
#[automatically_derived]
impl ::insomnia_tasks::__private::Tool for Wait {
    const NAME: &'static ::core::primitive::str = "Wait";
    const DESCRIPTION: &'static ::core::primitive::str = "Wait.";
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

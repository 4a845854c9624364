#[automatically_derived]
impl ::insomnia_tasks::__private::Tool for Read {
    const NAME: &'static ::core::primitive::str = "Read";
    const DESCRIPTION: &'static ::core::primitive::str = {
        const __TEXT: &::core::primitive::str = ::core::concat!(
            "Read it:", "\n", include_str!("read.md")
        );
        __TEXT.trim_ascii()
    };
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
const _: () = {
    const __TEXT: &::core::primitive::str = ::core::concat!(
        "Read it:", "\n", include_str!("read.md")
    );
    ::core::assert!(
        ::insomnia_tasks::__private::is_description(__TEXT),
        "the description is empty or has more than 1024 characters: say in a sentence what the tool does and when to use it"
    );
};
#[automatically_derived]
impl ::insomnia_tasks::__private::Tool for Find {
    const NAME: &'static ::core::primitive::str = "Find";
    const DESCRIPTION: &'static ::core::primitive::str = {
        const __TEXT: &::core::primitive::str = FIND;
        __TEXT.trim_ascii()
    };
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
const _: () = {
    const __TEXT: &::core::primitive::str = FIND;
    ::core::assert!(
        ::insomnia_tasks::__private::is_description(__TEXT),
        "the description is empty or has more than 1024 characters: say in a sentence what the tool does and when to use it"
    );
};

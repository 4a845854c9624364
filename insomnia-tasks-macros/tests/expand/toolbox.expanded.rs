#[automatically_derived]
impl ::insomnia_tasks::__private::Toolbox for Tools {
    fn try_definitions() -> ::core::result::Result<
        ::std::vec::Vec<::insomnia_tasks::__private::ToolDefinition>,
        ::insomnia_tasks::__private::DefinitionError,
    > {
        ::core::result::Result::Ok(
            ::std::vec![
                < ReadFile as ::insomnia_tasks::__private::Tool > ::try_definition() ?, <
                files::Search as ::insomnia_tasks::__private::Tool > ::try_definition() ?
            ],
        )
    }
    fn decode(
        __name: &::core::primitive::str,
        __arguments: &::core::primitive::str,
    ) -> ::core::result::Result<Self, ::insomnia_tasks::__private::DecodeError> {
        if __name == <ReadFile as ::insomnia_tasks::__private::Tool>::NAME {
            let __tool = <ReadFile as ::insomnia_tasks::__private::Tool>::parse(
                __arguments,
            )?;
            return ::core::result::Result::Ok(Self::Read(__tool));
        }
        if __name == <files::Search as ::insomnia_tasks::__private::Tool>::NAME {
            let __tool = <files::Search as ::insomnia_tasks::__private::Tool>::parse(
                __arguments,
            )?;
            return ::core::result::Result::Ok(Self::Search(__tool));
        }
        ::core::result::Result::Err(
            ::insomnia_tasks::__private::unknown_tool(
                __name,
                &[
                    <ReadFile as ::insomnia_tasks::__private::Tool>::NAME,
                    <files::Search as ::insomnia_tasks::__private::Tool>::NAME,
                ],
            ),
        )
    }
}
#[automatically_derived]
impl<__State> ::insomnia_tasks::__private::RunToolbox<__State> for Tools
where
    __State: ?::core::marker::Sized + ::core::marker::Sync,
    ReadFile: ::insomnia_tasks::__private::Run<__State>,
    files::Search: ::insomnia_tasks::__private::Run<__State>,
{
    async fn run(
        self,
        __state: &__State,
    ) -> ::core::result::Result<
        ::insomnia_tasks::__private::ToolOutput,
        ::insomnia_tasks::__private::ToolError,
    > {
        match self {
            Self::Read(__tool) => {
                ::insomnia_tasks::__private::finish(
                    <ReadFile as ::insomnia_tasks::__private::Run<
                        __State,
                    >>::run(__tool, __state)
                        .await,
                )
            }
            Self::Search(__tool) => {
                ::insomnia_tasks::__private::finish(
                    <files::Search as ::insomnia_tasks::__private::Run<
                        __State,
                    >>::run(__tool, __state)
                        .await,
                )
            }
        }
    }
}
const _: () = {
    const NAMES: &[&::core::primitive::str] = &[
        <ReadFile as ::insomnia_tasks::__private::Tool>::NAME,
        <files::Search as ::insomnia_tasks::__private::Tool>::NAME,
    ];
    ::core::assert!(
        ! ::insomnia_tasks::__private::is_repeated(NAMES, 1usize),
        "the tool of variant `Search` has the name of an earlier tool of `Tools`: give one of them another with `#[tool(name = \"...\")]`"
    );
};

#[automatically_derived]
impl tasks::__private::Tool for Read {
    const NAME: &'static ::core::primitive::str = "Read";
    const DESCRIPTION: &'static ::core::primitive::str = "Read.";
    fn try_definition() -> ::core::result::Result<
        tasks::__private::ToolDefinition,
        tasks::__private::DefinitionError,
    > {
        static DEFINITION: ::std::sync::OnceLock<
            ::core::result::Result<
                tasks::__private::ToolDefinition,
                tasks::__private::DefinitionError,
            >,
        > = ::std::sync::OnceLock::new();
        ::core::clone::Clone::clone(
            DEFINITION.get_or_init(tasks::__private::ToolDefinition::of::<Self>),
        )
    }
}
#[automatically_derived]
impl<T> crate::tasks::__private::Tool for Find<T>
where
    Find<T>: crate::tasks::__private::ToolArguments,
{
    const NAME: &'static ::core::primitive::str = "Find";
    const DESCRIPTION: &'static ::core::primitive::str = "Find.";
    fn try_definition() -> ::core::result::Result<
        crate::tasks::__private::ToolDefinition,
        crate::tasks::__private::DefinitionError,
    > {
        crate::tasks::__private::definition_of_generic::<Self>()
    }
}
#[automatically_derived]
impl tasks::__private::Toolbox for Tools {
    fn try_definitions() -> ::core::result::Result<
        ::std::vec::Vec<tasks::__private::ToolDefinition>,
        tasks::__private::DefinitionError,
    > {
        ::core::result::Result::Ok(
            ::std::vec![
                < Read as tasks::__private::Tool > ::try_definition() ?, < Find < u32 >
                as tasks::__private::Tool > ::try_definition() ?
            ],
        )
    }
    fn decode(
        __name: &::core::primitive::str,
        __arguments: &::core::primitive::str,
    ) -> ::core::result::Result<Self, tasks::__private::DecodeError> {
        if __name == <Read as tasks::__private::Tool>::NAME {
            let __tool = <Read as tasks::__private::Tool>::parse(__arguments)?;
            return ::core::result::Result::Ok(Self::Read(__tool));
        }
        if __name == <Find<u32> as tasks::__private::Tool>::NAME {
            let __tool = <Find<u32> as tasks::__private::Tool>::parse(__arguments)?;
            return ::core::result::Result::Ok(Self::Find(__tool));
        }
        ::core::result::Result::Err(
            tasks::__private::unknown_tool(
                __name,
                &[
                    <Read as tasks::__private::Tool>::NAME,
                    <Find<u32> as tasks::__private::Tool>::NAME,
                ],
            ),
        )
    }
}
#[automatically_derived]
impl<__State> tasks::__private::RunToolbox<__State> for Tools
where
    __State: ?::core::marker::Sized + ::core::marker::Sync,
    Read: tasks::__private::Run<__State>,
    Find<u32>: tasks::__private::Run<__State>,
{
    async fn run(
        self,
        __state: &__State,
    ) -> ::core::result::Result<
        tasks::__private::ToolOutput,
        tasks::__private::ToolError,
    > {
        match self {
            Self::Read(__tool) => {
                tasks::__private::finish(
                    <Read as tasks::__private::Run<__State>>::run(__tool, __state).await,
                )
            }
            Self::Find(__tool) => {
                tasks::__private::finish(
                    <Find<u32> as tasks::__private::Run<__State>>::run(__tool, __state)
                        .await,
                )
            }
        }
    }
}
const _: () = {
    const NAMES: &[&::core::primitive::str] = &[
        <Read as tasks::__private::Tool>::NAME,
        <Find<u32> as tasks::__private::Tool>::NAME,
    ];
    ::core::assert!(
        ! tasks::__private::is_repeated(NAMES, 1usize),
        "the tool of variant `Find` has the name of an earlier tool of `Tools`: give one of them another with `#[tool(name = \"...\")]`"
    );
};

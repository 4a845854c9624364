::core::compile_error! {
    "a variant of a toolbox holds exactly one tool: write `Read(TheTool)`"
}
::core::compile_error! {
    "a variant of a toolbox holds exactly one tool: write `Nothing(TheTool)`"
}
#[automatically_derived]
impl ::insomnia_tasks::__private::Toolbox for Tools {
    fn try_definitions() -> ::core::result::Result<
        ::std::vec::Vec<::insomnia_tasks::__private::ToolDefinition>,
        ::insomnia_tasks::__private::DefinitionError,
    > {
        ::core::unimplemented!()
    }
    fn decode(
        _: &::core::primitive::str,
        _: &::core::primitive::str,
    ) -> ::core::result::Result<Self, ::insomnia_tasks::__private::DecodeError> {
        ::core::unimplemented!()
    }
}
#[automatically_derived]
impl<
    __State: ?::core::marker::Sized + ::core::marker::Sync,
> ::insomnia_tasks::__private::RunToolbox<__State> for Tools {
    async fn run(
        self,
        _: &__State,
    ) -> ::core::result::Result<
        ::insomnia_tasks::__private::ToolOutput,
        ::insomnia_tasks::__private::ToolError,
    > {
        ::core::unimplemented!()
    }
}

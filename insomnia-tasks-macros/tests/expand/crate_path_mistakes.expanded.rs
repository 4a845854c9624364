::core::compile_error! {
    "the model needs a description of the tool: add a doc comment, such as `/// Read a text file.`, or `#[tool(description = \"...\")]`"
}
#[automatically_derived]
impl tasks::__private::Tool for Read {
    const NAME: &'static ::core::primitive::str = ::core::stringify!(Read);
    const DESCRIPTION: &'static ::core::primitive::str = "";
}
::core::compile_error! {
    "a variant of a toolbox holds exactly one tool: write `Read(TheTool)`"
}
#[automatically_derived]
impl tasks::__private::Toolbox for Tools {
    fn try_definitions() -> ::core::result::Result<
        ::std::vec::Vec<tasks::__private::ToolDefinition>,
        tasks::__private::DefinitionError,
    > {
        ::core::unimplemented!()
    }
    fn decode(
        _: &::core::primitive::str,
        _: &::core::primitive::str,
    ) -> ::core::result::Result<Self, tasks::__private::DecodeError> {
        ::core::unimplemented!()
    }
}
#[automatically_derived]
impl<
    __State: ?::core::marker::Sized + ::core::marker::Sync,
> tasks::__private::RunToolbox<__State> for Tools {
    async fn run(
        self,
        _: &__State,
    ) -> ::core::result::Result<
        tasks::__private::ToolOutput,
        tasks::__private::ToolError,
    > {
        ::core::unimplemented!()
    }
}

::core::compile_error! {
    "unknown option: `#[tool(...)]` knows `name = \"...\"`, `description = \"...\"` and `crate = \"...\"`"
}
::core::compile_error! {
    "the arguments of a tool are read from JSON and must be owned: remove the lifetime"
}
::core::compile_error! {
    "the arguments of a tool are read from JSON and must be owned: use `String` for `&str`, `Vec` for a slice"
}
::core::compile_error! {
    "the tool name \"read file\" is refused by servers: they take a letter followed by at most 63 letters, digits, `_` or `-`"
}
::core::compile_error! {
    "the model needs a description of the tool: add a doc comment, such as `/// Read a text file.`, or `#[tool(description = \"...\")]`"
}
#[automatically_derived]
impl<'a> ::insomnia_tasks::__private::Tool for ReadFile<'a>
where
    ReadFile<'a>: ::insomnia_tasks::__private::ToolArguments,
{
    const NAME: &'static ::core::primitive::str = ::core::stringify!(ReadFile);
    const DESCRIPTION: &'static ::core::primitive::str = "";
}

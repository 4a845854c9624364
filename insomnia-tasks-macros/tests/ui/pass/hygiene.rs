//! The derives name everything by its full path. (That of schemars wants two names in scope.)
#![no_implicit_prelude]
#![deny(warnings)]

use ::schemars;
use ::std::convert::Into;

mod std {}
mod core {}
mod serde_json {}

#[derive(::serde::Deserialize, ::schemars::JsonSchema, ::insomnia_tasks::Tool)]
#[tool(description = "Do it.")]
pub struct Result {}

#[derive(::serde::Deserialize, ::schemars::JsonSchema, ::insomnia_tasks::Tool)]
#[tool(description = "Do it.", name = "opt")]
pub struct Option;

#[derive(::serde::Deserialize, ::schemars::JsonSchema, ::insomnia_tasks::Tool)]
#[tool(description = "Do it.")]
pub struct S {}

#[derive(::serde::Deserialize, ::schemars::JsonSchema, ::insomnia_tasks::Tool)]
#[tool(description = "Do it.")]
#[allow(non_camel_case_types, reason = "a tool may be named like what code calls its variables")]
pub struct name;

#[derive(::insomnia_tasks::Toolbox)]
pub enum Vec {
    Ok(Result),
    Err(Option),
    S(S),
    Name(name),
}

fn main() {
    <Vec as ::insomnia_tasks::Toolbox>::definitions();
}

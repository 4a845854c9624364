//! Derive macros of `insomnia-tasks`: `Tool` and `Toolbox`. Use them through that crate, which documents them beside the
//! traits of the same names.
//!
//! Each derive goes the same way: the input's attributes are read (`attr`), put together with the syntax they came from
//! (`model`), judged as a whole so that all mistakes are reported at once (`check`, `fields`), and turned into code (`expand`), or on a
//! mistake into an impl that does nothing (`fallback`), so that the mistake is the only error.

mod attr;
mod check;
mod errors;
mod expand;
mod fallback;
mod fields;
mod krate;
mod model;
#[cfg(test)]
mod snapshots;

use proc_macro2::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct a tool: its name is the tool's, its doc comment the description. `#[tool(...)]` on the struct takes
///
/// - `name = "..."`: another name;
/// - `description = "..."`: another description. In place of the text may stand a constant, `concat!(..)` or
///   `include_str!(..)`, as in the doc comment itself (`#[doc = include_str!("read.md")]`). Such a text goes to the model as it
///   is, where the lines of a doc comment are joined into paragraphs;
/// - `crate = "..."`: the path by which `insomnia-tasks` is reached, where it has another name in the manifest
///   (`tasks = { package = "insomnia-tasks", .. }`) or is reexported by another crate.
#[proc_macro_derive(Tool, attributes(tool))]
pub fn derive_tool(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    tool(&parse_macro_input!(input as DeriveInput)).into()
}

fn tool(input: &DeriveInput) -> TokenStream {
    match check::tool(input) {
        Ok(tool) => expand::tool(&tool),
        Err(error) => fallback::tool(input, &error),
    }
}

/// Makes an enum, whose variants hold one tool each, a toolbox. `#[tool(crate = "...")]` on the enum says by which path
/// `insomnia-tasks` is reached, as for `Tool`.
#[proc_macro_derive(Toolbox, attributes(tool))]
pub fn derive_toolbox(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    toolbox(&parse_macro_input!(input as DeriveInput)).into()
}

fn toolbox(input: &DeriveInput) -> TokenStream {
    match check::toolbox(input) {
        Ok(toolbox) => expand::toolbox(&toolbox),
        Err(error) => fallback::toolbox(input, &error),
    }
}

use proc_macro2::TokenStream;
use syn::{DeriveInput, Type, Variant};

use crate::{attr::ToolAttrs, errors::Errors};

/// A struct that shall be a tool, with the syntax that messages point at.
pub(crate) struct ToolInput<'a> {
    pub(crate) input: &'a DeriveInput,
    pub(crate) attrs: ToolAttrs<'a>,
}

impl<'a> ToolInput<'a> {
    pub(crate) fn read(input: &'a DeriveInput, errors: &mut Errors) -> Self {
        Self { input, attrs: ToolAttrs::read(&input.attrs, errors) }
    }
}

/// A tool in which nothing is wrong.
pub(crate) struct Tool<'a> {
    pub(crate) input: &'a DeriveInput,
    pub(crate) name: String,
    pub(crate) description: Description,
}

/// What the model is told of a tool.
pub(crate) enum Description {
    /// Judged already.
    Written(String),
    /// An expression, for the compiler to judge.
    Computed(TokenStream),
}

/// A toolbox in which nothing is wrong.
pub(crate) struct Toolbox<'a> {
    pub(crate) input: &'a DeriveInput,
    pub(crate) variants: Vec<ToolVariant<'a>>,
}

/// One tool of a toolbox.
pub(crate) struct ToolVariant<'a> {
    pub(crate) variant: &'a Variant,
    pub(crate) tool: &'a Type,
}

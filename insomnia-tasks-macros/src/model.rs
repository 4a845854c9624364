use syn::{Attribute, DeriveInput, Ident, Type, Variant};

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

    /// The attributes of all fields, of whatever kind of type.
    pub(crate) fn field_attrs(&self) -> impl Iterator<Item = &'a [Attribute]> {
        let fields: Vec<_> = match &self.input.data {
            syn::Data::Struct(data) => data.fields.iter().collect(),
            syn::Data::Enum(_) | syn::Data::Union(_) => Vec::new(),
        };
        fields.into_iter().map(|field| field.attrs.as_slice())
    }
}

/// A tool in which nothing is wrong.
pub(crate) struct Tool<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) name: String,
    pub(crate) description: String,
}

/// A toolbox in which nothing is wrong.
pub(crate) struct Toolbox<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) variants: Vec<ToolVariant<'a>>,
}

/// One tool of a toolbox.
pub(crate) struct ToolVariant<'a> {
    pub(crate) variant: &'a Variant,
    pub(crate) tool: &'a Type,
}

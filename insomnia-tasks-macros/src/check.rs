use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Data, DataEnum, DeriveInput, Expr, Fields, Variant, ext::IdentExt, spanned::Spanned};

use crate::{
    attr::{DocText, ToolAttrs, literal, refuse},
    errors::Errors,
    fields,
    model::{Description, Tool, ToolInput, ToolVariant, Toolbox},
};

/// Characters of a description that every server takes.
pub(crate) const MAX_DESCRIPTION: usize = 1024;
const NAME_RULE: &str = "they take a letter followed by at most 63 letters, digits, `_` or `-`";

pub(crate) fn tool(input: &DeriveInput) -> syn::Result<Tool<'_>> {
    let mut errors = Errors::default();
    let tool = ToolInput::read(input, &mut errors);
    check_shape(input, &mut errors);
    fields::check(input, &mut errors);
    let name = check_name(&tool, &mut errors);
    let description = check_description(&tool, &mut errors);
    errors.finish(description.map(|description| Tool { input, name, description }))
}

fn check_shape(input: &DeriveInput, errors: &mut Errors) {
    match &input.data {
        Data::Struct(data) => {
            if let Fields::Unnamed(fields) = &data.fields {
                errors.at(fields, "the arguments of a tool have names: use named fields, such as `{ path: String }`");
            }
        }
        Data::Enum(data) => errors.at(
            data.enum_token,
            "a tool is a struct whose fields are its arguments: derive `Toolbox` for an enum of tools, or put the enum \
             into a field",
        ),
        Data::Union(data) => errors.at(data.union_token, "a tool is a struct whose fields are its arguments"),
    }
    for lifetime in input.generics.lifetimes() {
        errors.at(lifetime, "the arguments of a tool are read from JSON and must be owned: remove the lifetime");
    }
}

fn check_name(tool: &ToolInput<'_>, errors: &mut Errors) -> String {
    match &tool.attrs.name {
        Some(given) => {
            let name = given.value();
            if !is_valid_name(&name) {
                errors.at(given, format!("the tool name {name:?} is refused by servers: {NAME_RULE}"));
            }
            name
        }
        None => {
            let name = tool.input.ident.unraw().to_string();
            if !is_valid_name(&name) {
                errors.at(
                    &tool.input.ident,
                    format!(
                        "the tool name {name:?} is refused by servers ({NAME_RULE}): add `#[tool(name = \"...\")]`"
                    ),
                );
            }
            name
        }
    }
}

fn check_description(tool: &ToolInput<'_>, errors: &mut Errors) -> Option<Description> {
    let attrs = &tool.attrs;
    let (text, place) = match (&attrs.description, &attrs.doc) {
        (Some(given), _) => match literal(given) {
            Some(text) => (text.trim().to_owned(), quote!(#given)),
            None => return Some(Description::Computed(quote!(#given))),
        },
        (None, Some(doc)) => match &doc.text {
            DocText::Written(text) => {
                let lines = &doc.lines;
                (text.clone(), quote!(#(#lines)*))
            }
            DocText::Computed(parts) => return Some(Description::Computed(joined(parts))),
        },
        (None, None) => {
            errors.at(
                &tool.input.ident,
                "the model needs a description of the tool: add a doc comment, such as `/// Read a text file.`, or \
                 `#[tool(description = \"...\")]`",
            );
            return None;
        }
    };
    let length = text.chars().count();
    if length == 0 {
        errors.at(place, "the description is empty: say in a sentence what the tool does and when to use it");
    } else if length > MAX_DESCRIPTION {
        errors.at(
            place,
            format!(
                "the description has {length} characters and servers take {MAX_DESCRIPTION}: shorten it, or keep the doc \
                 comment for readers and give the model `#[tool(description = \"...\")]`"
            ),
        );
    }
    Some(Description::Written(text))
}

/// The parts of a doc comment as one expression, at the place of what is not written out.
fn joined(parts: &[&Expr]) -> TokenStream {
    let place = parts.iter().find(|part| literal(part).is_none()).map_or_else(Span::call_site, |part| part.span());
    let lines = parts.iter().enumerate().map(|(index, part)| {
        let line = match literal(part) {
            Some(text) => text.strip_prefix(' ').unwrap_or(&text).to_token_stream(),
            None => part.to_token_stream(),
        };
        if index == 0 { line } else { quote!("\n", #line) }
    });
    quote_spanned!(place=> ::core::concat!(#(#lines),*))
}

fn is_valid_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

pub(crate) fn toolbox(input: &DeriveInput) -> syn::Result<Toolbox<'_>> {
    let mut errors = Errors::default();
    if !input.generics.params.is_empty() {
        errors.at(&input.generics, "a toolbox cannot be generic: write the types out");
    }
    let way_out = "`#[tool(...)]` stands on the struct of a tool: move it there";
    let attrs = ToolAttrs::read(&input.attrs, &mut errors);
    let of_a_tool = "a tool is described on its own struct: move it there; a toolbox takes `crate = \"...\"` alone";
    attrs.name.iter().for_each(|name| errors.at(name, of_a_tool));
    attrs.description.iter().for_each(|description| errors.at(description, of_a_tool));
    if let Data::Enum(data) = &input.data {
        data.variants.iter().for_each(|variant| refuse(&variant.attrs, way_out, &mut errors));
    }
    let not_an_enum = "a toolbox is an enum whose variants hold one tool each, such as `enum Tools { Read(ReadFile) }`";
    let variants = match &input.data {
        Data::Enum(data) => check_variants(input, data, &mut errors),
        Data::Struct(data) => {
            errors.at(data.struct_token, not_an_enum);
            Vec::new()
        }
        Data::Union(data) => {
            errors.at(data.union_token, not_an_enum);
            Vec::new()
        }
    };
    errors.finish(Some(Toolbox { input, variants }))
}

fn check_variants<'a>(input: &DeriveInput, data: &'a DataEnum, errors: &mut Errors) -> Vec<ToolVariant<'a>> {
    if data.variants.is_empty() {
        errors.at(&input.ident, "the toolbox is empty: add a variant for each tool, such as `Read(ReadFile)`");
    }
    data.variants.iter().filter_map(|variant| check_variant(variant, errors)).collect()
}

fn check_variant<'a>(variant: &'a Variant, errors: &mut Errors) -> Option<ToolVariant<'a>> {
    if let Fields::Unnamed(fields) = &variant.fields {
        let mut fields = fields.unnamed.iter();
        if let (Some(field), None) = (fields.next(), fields.next()) {
            return Some(ToolVariant { variant, tool: &field.ty });
        }
    }
    let ident = &variant.ident;
    errors.at(variant, format!("a variant of a toolbox holds exactly one tool: write `{ident}(TheTool)`"));
    None
}

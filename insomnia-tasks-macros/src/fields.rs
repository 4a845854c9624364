use std::collections::HashSet;

use quote::ToTokens;
use syn::{Attribute, Data, DeriveInput, Field, LitStr, Type, ext::IdentExt};

use crate::{
    attr::{self, Doc, DocText},
    check::MAX_DESCRIPTION,
    errors::Errors,
};

/// Judges the fields of a tool by what can be seen of them: their attributes, names, and types as they are written. What a
/// named type holds is seen only when the definition is rendered.
pub(crate) fn check(input: &DeriveInput, errors: &mut Errors) {
    let Data::Struct(data) = &input.data else { return };
    let case_changes = Told::of(&input.attrs).renames_all;
    let mut names = HashSet::new();
    for field in &data.fields {
        attr::refuse(
            &field.attrs,
            "`#[tool(...)]` stands on the struct only: describe a field by its doc comment",
            errors,
        );
        let read = Told::of(&field.attrs);
        if read.flattened && is_option(&field.ty) {
            errors.at(
                &field.ty,
                "a wrong argument in here would count as none of them, and the call would run without it: flatten the struct \
                 itself, and make its fields optional",
            );
        }
        if !read.by_other_means {
            check_type(&field.ty, input, errors);
            check_description(field, errors);
        }
        if !read.nameless {
            let own = field.ident.as_ref().filter(|_| !case_changes).map(|ident| ident.unraw().to_string());
            if let Some(name) = read.name.as_ref().map(LitStr::value).or(own)
                && !names.insert(name.clone())
            {
                errors.at(&field.ident, format!("another argument has the name `{name}` too: rename one of them"));
            }
            check_name(field, read.name, errors);
        }
    }
}

/// What serde and schemars are told of a field, or of the struct.
#[derive(Default)]
struct Told {
    /// The names of fields are written in another case.
    renames_all: bool,
    name: Option<LitStr>,
    /// Its own name is not that of an argument.
    nameless: bool,
    /// Its fields stand among those of the struct.
    flattened: bool,
    /// Its type is not what the model sees.
    by_other_means: bool,
}

impl Told {
    /// Leaves out what cannot be read: serde and schemars report it.
    fn of(attrs: &[Attribute]) -> Self {
        let mut told = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde") || attr.path().is_ident("schemars")) {
            let _ = attr.parse_nested_meta(|meta| {
                match meta.path.get_ident().map(ToString::to_string).as_deref() {
                    Some("skip" | "skip_deserializing") => (told.nameless, told.by_other_means) = (true, true),
                    Some("rename_all") => told.renames_all = true,
                    Some("flatten") => (told.nameless, told.flattened) = (true, true),
                    Some("with" | "schema_with" | "deserialize_with" | "description") => told.by_other_means = true,
                    Some("rename") if meta.input.peek(syn::Token![=]) => {
                        told.name = Some(meta.value()?.parse()?);
                        return Ok(());
                    }
                    // with two names, one for each direction
                    Some("rename") => told.nameless = true,
                    _ => {}
                }
                attr::skip_value(&meta)
            });
        }
        told
    }
}

fn check_name(field: &Field, renamed: Option<LitStr>, errors: &mut Errors) {
    let rule = "they take 1 to 64 letters, digits, `_`, `-` or `.`";
    match (renamed, &field.ident) {
        (Some(renamed), _) if !is_valid_name(&renamed.value()) => {
            let name = renamed.value();
            errors.at(&renamed, format!("the argument name {name:?} is refused by servers: {rule}"));
        }
        (None, Some(ident)) if !is_valid_name(&ident.unraw().to_string()) => {
            let name = ident.unraw().to_string();
            errors.at(
                ident,
                format!("the argument name {name:?} is refused by servers ({rule}): add `#[serde(rename = \"...\")]`"),
            );
        }
        _ => {}
    }
}

fn is_valid_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

fn check_description(field: &Field, errors: &mut Errors) {
    if let Some(Doc { text: DocText::Written(text), lines }) = attr::doc(&field.attrs)
        && text.chars().count() > MAX_DESCRIPTION
    {
        let length = text.chars().count();
        errors.at(
            quote::quote!(#(#lines)*),
            format!(
                "the description has {length} characters and servers take {MAX_DESCRIPTION}: shorten it, or keep the doc \
                 comment for readers and give the model `#[schemars(description = \"...\")]`"
            ),
        );
    }
}

fn is_option(ty: &Type) -> bool {
    match ty {
        Type::Group(inner) => is_option(&inner.elem),
        Type::Paren(inner) => is_option(&inner.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Option"),
        _ => false,
    }
}

/// Reports what no value of JSON can be read into, at the place where it stands.
fn check_type(ty: &Type, input: &DeriveInput, errors: &mut Errors) {
    match ty {
        Type::Reference(_) => {
            errors.at(ty, "the arguments of a tool are read from JSON and must be owned: use `String` for `&str`, `Vec` for a slice");
        }
        Type::Ptr(_) | Type::FnPtr(_) | Type::TraitObject(_) | Type::ImplTrait(_) | Type::Never(_) => {
            errors.at(ty, "no argument can be of this type: a model can give strings, numbers, booleans, lists and structs of them");
        }
        Type::Tuple(tuple) if tuple.elems.is_empty() => {
            errors.at(ty, "this field can hold no value: remove it");
        }
        Type::Tuple(tuple) => {
            let mut kinds = tuple.elems.iter().map(|entry| entry.to_token_stream().to_string());
            let first = kinds.next();
            if kinds.any(|kind| Some(kind) != first) {
                errors.at(ty, "servers take no tuple of different types: use a struct with named fields");
            }
            tuple.elems.iter().for_each(|entry| check_type(entry, input, errors));
        }
        Type::Array(array) => check_type(&array.elem, input, errors),
        Type::Slice(slice) => check_type(&slice.elem, input, errors),
        Type::Paren(inner) => check_type(&inner.elem, input, errors),
        Type::Group(inner) => check_type(&inner.elem, input, errors),
        Type::Path(path) => {
            let arguments = path.path.segments.iter().filter_map(|segment| match &segment.arguments {
                syn::PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
                _ => None,
            });
            for argument in arguments.flatten() {
                if let syn::GenericArgument::Type(inner) = argument {
                    check_type(inner, input, errors);
                }
            }
            if path.qself.is_none() && (path.path.is_ident("Self") || path.path.is_ident(&input.ident)) {
                errors.at(ty, "a tool cannot contain itself: use a flat list whose entries name their parent");
            }
        }
        _ => {}
    }
}

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Attribute, Path, parse_quote};

use crate::{attr::ToolAttrs, errors::Errors};

/// The path by which the code that the derives write reaches the library.
pub(crate) struct Krate(Path);

impl Krate {
    /// As `#[tool(crate = "...")]` says, else by the library's own name. Mistakes are left to the checks.
    pub(crate) fn of(attrs: &[Attribute]) -> Self {
        let given = ToolAttrs::read(attrs, &mut Errors::default()).krate;
        Self(given.unwrap_or_else(|| parse_quote!(::insomnia_tasks)))
    }

    /// The path to what derives name. Errors about it are shown at `place`.
    pub(crate) fn private(&self, place: Span) -> TokenStream {
        let path = &self.0;
        let placed = quote!(#path::__private).into_iter().map(|mut token| {
            token.set_span(place.resolved_at(token.span()));
            token
        });
        placed.collect()
    }
}

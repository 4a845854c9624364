use std::fmt::Display;

use quote::ToTokens;

/// Mistakes, gathered so that they are all reported at once.
#[derive(Default)]
pub(crate) struct Errors {
    combined: Option<syn::Error>,
}

impl Errors {
    /// Adds a mistake at the place of `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.combined {
            Some(combined) => combined.combine(error),
            None => self.combined = Some(error),
        }
    }

    /// The value, if nothing was wrong.
    pub(crate) fn finish<T>(self, value: Option<T>) -> syn::Result<T> {
        match (self.combined, value) {
            (None, Some(value)) => Ok(value),
            (Some(error), _) => Err(error),
            (None, None) => Err(syn::Error::new(proc_macro2::Span::call_site(), "the input cannot be read")),
        }
    }
}

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput};

use crate::{
    expand::{arguments_bound, bound},
    krate::Krate,
};

/// An impl that satisfies the uses of a struct whose derive failed.
pub(crate) fn tool(input: &DeriveInput, error: &syn::Error) -> TokenStream {
    let error = error.to_compile_error();
    // Nothing that a tool must be can be derived for a union.
    if matches!(input.data, Data::Union(_)) {
        return error;
    }
    let krate = Krate::of(&input.attrs);
    let private = krate.private(Span::call_site());
    let (ident, bounds) = (&input.ident, arguments_bound(input, &krate));
    let (impl_generics, type_generics, _) = input.generics.split_for_impl();
    quote! {
        #error

        #[automatically_derived]
        impl #impl_generics #private::Tool for #ident #type_generics #bounds {
            const NAME: &'static ::core::primitive::str = ::core::stringify!(#ident);
            const DESCRIPTION: &'static ::core::primitive::str = "";
        }
    }
}

/// Impls that satisfy the uses of an enum whose derive failed.
pub(crate) fn toolbox(input: &DeriveInput, error: &syn::Error) -> TokenStream {
    let error = error.to_compile_error();
    let private = Krate::of(&input.attrs).private(Span::call_site());
    let (ident, bounds) = (&input.ident, bound(input, &quote!(::core::marker::Send + 'static)));
    let (impl_generics, type_generics, _) = input.generics.split_for_impl();
    let run = input.generics.params.is_empty().then(|| run_toolbox(input, &private));
    quote! {
        #error

        #[automatically_derived]
        impl #impl_generics #private::Toolbox for #ident #type_generics #bounds {
            fn try_definitions() -> ::core::result::Result<
                ::std::vec::Vec<#private::ToolDefinition>,
                #private::DefinitionError,
            > {
                ::core::unimplemented!()
            }

            fn decode(
                _: &::core::primitive::str,
                _: &::core::primitive::str,
            ) -> ::core::result::Result<Self, #private::DecodeError> {
                ::core::unimplemented!()
            }
        }

        #run
    }
}

fn run_toolbox(input: &DeriveInput, private: &TokenStream) -> TokenStream {
    let ident = &input.ident;
    quote! {
        #[automatically_derived]
        impl<__State: ?::core::marker::Sized + ::core::marker::Sync> #private::RunToolbox<__State> for #ident {
            async fn run(
                self,
                _: &__State,
            ) -> ::core::result::Result<
                #private::ToolOutput,
                #private::ToolError,
            > {
                ::core::unimplemented!()
            }
        }
    }
}

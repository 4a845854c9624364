use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

/// Impls that satisfy the uses of a type whose derive failed.
pub(crate) fn tool(input: &DeriveInput, error: &syn::Error) -> TokenStream {
    let error = error.to_compile_error();
    let ident = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let bounds = where_clause.map(|clause| &clause.predicates);
    let arguments = (!input.generics.params.is_empty())
        .then(|| quote!(#ident #type_generics: ::insomnia_tasks::__private::ToolArguments,));
    quote! {
        #error

        #[automatically_derived]
        impl #impl_generics ::insomnia_tasks::__private::Tool for #ident #type_generics
        where
            #arguments
            #bounds
        {
            const NAME: &'static ::core::primitive::str = ::core::stringify!(#ident);
            const DESCRIPTION: &'static ::core::primitive::str = "";
        }
    }
}

pub(crate) fn toolbox(input: &DeriveInput, error: &syn::Error) -> TokenStream {
    let error = error.to_compile_error();
    let ident = &input.ident;
    // A generic toolbox would need bounds that only its author knows.
    if !input.generics.params.is_empty() {
        return error;
    }
    quote! {
        #error

        #[automatically_derived]
        impl ::insomnia_tasks::__private::Toolbox for #ident {
            fn try_definitions() -> ::core::result::Result<
                ::std::vec::Vec<::insomnia_tasks::__private::ToolDefinition>,
                ::insomnia_tasks::__private::DefinitionError,
            > {
                ::core::unimplemented!()
            }

            fn decode(
                _: &::core::primitive::str,
                _: &::core::primitive::str,
            ) -> ::core::result::Result<Self, ::insomnia_tasks::__private::DecodeError> {
                ::core::unimplemented!()
            }
        }

        #[automatically_derived]
        impl<S: ?::core::marker::Sized + ::core::marker::Sync> ::insomnia_tasks::__private::RunToolbox<S> for #ident {
            async fn run(
                self,
                _: &S,
            ) -> ::core::result::Result<
                ::insomnia_tasks::__private::ToolOutput,
                ::insomnia_tasks::__private::ToolError,
            > {
                ::core::unimplemented!()
            }
        }
    }
}

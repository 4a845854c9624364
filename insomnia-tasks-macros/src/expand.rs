use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{DeriveInput, spanned::Spanned};

use crate::{
    check::MAX_DESCRIPTION,
    krate::Krate,
    model::{Description, Tool, Toolbox},
};

pub(crate) fn tool(tool: &Tool<'_>) -> TokenStream {
    let Tool { input, name, description } = tool;
    let (ident, krate) = (&input.ident, Krate::of(&input.attrs));
    let private = krate.private(ident.span());
    let bounds = arguments_bound(input, &krate);
    let (impl_generics, type_generics, _) = input.generics.split_for_impl();
    let definition = definition(input, &private);
    let (description, check) = match description {
        Description::Written(text) => (quote!(#text), None),
        Description::Computed(text) => computed(text, &krate),
    };
    // At the struct's name, so that a missing `Deserialize` or `JsonSchema` is reported there.
    quote_spanned! {ident.span()=>
        #[automatically_derived]
        impl #impl_generics #private::Tool for #ident #type_generics #bounds {
            const NAME: &'static ::core::primitive::str = #name;
            const DESCRIPTION: &'static ::core::primitive::str = #description;

            fn try_definition() -> ::core::result::Result<
                #private::ToolDefinition,
                #private::DefinitionError,
            > {
                #definition
            }
        }

        #check
    }
}

/// A description that only the compiler knows, and its check.
fn computed(text: &TokenStream, krate: &Krate) -> (TokenStream, Option<TokenStream>) {
    let private = krate.private(text.span());
    let out_of_bounds = format!(
        "the description is empty or has more than {MAX_DESCRIPTION} characters: say in a sentence what the tool does \
         and when to use it"
    );
    let text = quote_spanned!(text.span()=> const __TEXT: &::core::primitive::str = #text;);
    let check = quote_spanned! {text.span()=>
        const _: () = {
            #text
            ::core::assert!(#private::is_description(__TEXT), #out_of_bounds);
        };
    };
    (quote!({ #text __TEXT.trim_ascii() }), Some(check))
}

/// The body that renders the definition once.
fn definition(input: &DeriveInput, private: &TokenStream) -> TokenStream {
    // A static inside of a generic function would be one for all types.
    if !input.generics.params.is_empty() {
        return quote!(#private::definition_of_generic::<Self>());
    }
    quote! {
        static DEFINITION: ::std::sync::OnceLock<
            ::core::result::Result<
                #private::ToolDefinition,
                #private::DefinitionError,
            >,
        > = ::std::sync::OnceLock::new();
        ::core::clone::Clone::clone(
            DEFINITION.get_or_init(#private::ToolDefinition::of::<Self>),
        )
    }
}

/// The `where` clause of a generic tool: its own, and what a tool must be.
pub(crate) fn arguments_bound(input: &DeriveInput, krate: &Krate) -> Option<TokenStream> {
    let private = krate.private(Span::call_site());
    bound(input, &quote!(#private::ToolArguments))
}

/// The `where` clause of a generic type, which must also be what is demanded of it.
pub(crate) fn bound(input: &DeriveInput, demanded: &TokenStream) -> Option<TokenStream> {
    let (_, type_generics, where_clause) = input.generics.split_for_impl();
    let (ident, own) = (&input.ident, where_clause.map(|clause| &clause.predicates));
    (!input.generics.params.is_empty()).then(|| quote!(where #ident #type_generics: #demanded, #own))
}

pub(crate) fn toolbox(toolbox: &Toolbox<'_>) -> TokenStream {
    let (ident, krate) = (&toolbox.input.ident, Krate::of(&toolbox.input.attrs));
    let private = krate.private(Span::call_site());
    let variants: Vec<_> = toolbox.variants.iter().map(|variant| &variant.variant.ident).collect();
    let tools: Vec<_> = toolbox.variants.iter().map(|variant| variant.tool).collect();
    // At the tool's type, so that a missing `Tool` or `Run` is reported there.
    let bounds = tools.iter().map(|tool| {
        let private = krate.private(tool.span());
        quote_spanned!(tool.span()=> #tool: #private::Run<__State>)
    });
    let uniqueness = uniqueness(toolbox, &krate);
    quote! {
        #[automatically_derived]
        impl #private::Toolbox for #ident {
            fn try_definitions() -> ::core::result::Result<
                ::std::vec::Vec<#private::ToolDefinition>,
                #private::DefinitionError,
            > {
                ::core::result::Result::Ok(::std::vec![
                    #(<#tools as #private::Tool>::try_definition()?),*
                ])
            }

            fn decode(
                __name: &::core::primitive::str,
                __arguments: &::core::primitive::str,
            ) -> ::core::result::Result<Self, #private::DecodeError> {
                #(
                    if __name == <#tools as #private::Tool>::NAME {
                        let __tool = <#tools as #private::Tool>::parse(__arguments)?;
                        return ::core::result::Result::Ok(Self::#variants(__tool));
                    }
                )*
                ::core::result::Result::Err(#private::unknown_tool(
                    __name,
                    &[#(<#tools as #private::Tool>::NAME),*],
                ))
            }
        }

        #[automatically_derived]
        impl<__State> #private::RunToolbox<__State> for #ident
        where
            __State: ?::core::marker::Sized + ::core::marker::Sync,
            #(#bounds,)*
        {
            async fn run(
                self,
                __state: &__State,
            ) -> ::core::result::Result<
                #private::ToolOutput,
                #private::ToolError,
            > {
                match self {
                    #(
                        Self::#variants(__tool) => #private::finish(
                            <#tools as #private::Run<__State>>::run(__tool, __state).await,
                        ),
                    )*
                }
            }
        }

        #uniqueness
    }
}

/// One assertion for each variant, so that a repeated name is reported at its place.
fn uniqueness(toolbox: &Toolbox<'_>, krate: &Krate) -> TokenStream {
    let private = krate.private(Span::call_site());
    let tools = toolbox.variants.iter().map(|variant| variant.tool);
    let assertions = toolbox.variants.iter().enumerate().skip(1).map(|(index, variant)| {
        let message = format!(
            "the tool of variant `{}` has the name of an earlier tool of `{}`: give one of them another with \
             `#[tool(name = \"...\")]`",
            variant.variant.ident, toolbox.input.ident,
        );
        let private = krate.private(variant.tool.span());
        quote_spanned! {variant.tool.span()=>
            ::core::assert!(!#private::is_repeated(NAMES, #index), #message);
        }
    });
    quote! {
        const _: () = {
            const NAMES: &[&::core::primitive::str] =
                &[#(<#tools as #private::Tool>::NAME),*];
            #(#assertions)*
        };
    }
}

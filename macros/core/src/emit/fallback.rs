//! The output for wrong input. It compiles, so that the user only sees the errors of the macro.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{DeriveInput, GenericParam, Item};

use super::hyper::header;
use crate::model::Names;
use crate::parse::{federated_crate, hyper_crate};

/// An impl with errors: as it was written for rust-analyzer, which completes from it, and for rustc what
/// can be compiled of it, or else an impl without hooks. To rustc a body that was not rewritten is full of errors that are not
/// the user's: `Batches` is no iterator, `f32` times `Params` is nothing, `define` is missing.
///
/// Anything but an impl of a trait stays as it is.
pub fn fallback(attr: TokenStream, item: TokenStream, sound: Option<TokenStream>) -> TokenStream {
    let Ok(Item::Impl(parsed)) = syn::parse2::<Item>(item.clone()) else {
        return item;
    };
    let Some((None, algorithm, _)) = &parsed.trait_ else {
        return item;
    };
    if algorithm
        .segments
        .last()
        .is_none_or(|last| last.ident != "Algorithm")
    {
        return item;
    }
    let private = Names::new(federated_crate(attr)).private(Span::call_site());
    let (params, _, clause) = parsed.generics.split_for_impl();
    let ty = &parsed.self_ty;
    let compiled = sound.unwrap_or_else(|| {
        quote! {
            impl #params #algorithm for #ty #clause {
                fn define(&self, _: &mut #private::Definer) {}
            }
        }
    });
    // The lint knows only the names that cargo was told of; in the scope of a constant it can be
    // switched off without touching the user's crate.
    quote! {
        #[allow(unexpected_cfgs)]
        const _: () = {
            #[cfg(rust_analyzer)]
            #item
            #[cfg(not(rust_analyzer))]
            #compiled
        };
    }
}

/// The impls that the derive owes for a struct with errors, without content: what uses the struct
/// is not wrong for that.
pub fn hyper_fallback(item: TokenStream) -> TokenStream {
    let Ok(item) = syn::parse2::<DeriveInput>(item) else {
        return TokenStream::new();
    };
    let params = &item.generics.params;
    if !params
        .iter()
        .all(|param| matches!(param, GenericParam::Type(_)))
    {
        // `Hyper: 'static`, and the impls would add an error.
        return TokenStream::new();
    }
    let private = Names::new(hyper_crate(&item.attrs)).private(Span::call_site());
    let hyper = header(&item, &quote!(#private::Hyper), &quote!(#private::Hyper));
    let default = quote!(::core::default::Default);
    let default = header(&item, &default, &default);
    let ident = &item.ident;
    let registered = match params.len() {
        0 => Some(ident.to_token_stream()),
        1 => Some(quote!(#ident<#private::BoxedAlgorithm>)),
        _ => None,
    };
    let registered = registered.map(|target| {
        quote! {
            impl #private::Registered for #target {
                fn entry() -> #private::Entry {
                    loop {}
                }
            }
        }
    });
    quote! {
        const _: () = {
            #hyper {
                fn name(&self) -> &'static str {
                    ""
                }
                fn fields(&self) -> &'static [#private::Field] {
                    &[]
                }
                fn get(&self, _: &str) -> #private::Option<#private::HyperValue> {
                    #private::None
                }
                fn set_own(
                    &mut self,
                    _: &str,
                    _: #private::HyperValue,
                ) -> #private::Result<(), #private::HyperError> {
                    #private::Ok(())
                }
            }
            #default {
                fn default() -> Self {
                    loop {}
                }
            }
            #registered
        };
    }
}

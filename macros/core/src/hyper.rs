//! The driver of `#[derive(Hyper)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput};

use crate::words::words;
use crate::{check, emit, model, parse};

/// Expands `#[derive(Hyper)] item`; on errors the result is a `compile_error!` for each error (a
/// derive's input stays in place by itself), and for a struct impls without content.
pub fn hyper(item: TokenStream) -> TokenStream {
    expand(item.clone()).unwrap_or_else(|error| {
        let errors = error.into_compile_error();
        let impls = emit::hyper_fallback(item);
        quote!(#impls #errors)
    })
}

fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    if let Data::Enum(data) = &item.data {
        return words(&item, data);
    }
    let input = parse::hyper(item)?;
    let hypers = model::hypers(&input);
    check::hypers(&hypers)?;
    Ok(emit::hypers(&hypers))
}

//! The driver of `#[derive(Hyper)]`.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{check, emit, model, parse};

/// Expands `#[derive(Hyper)] item`; on errors the result is a `compile_error!` for each error (a
/// derive's input stays in place by itself), and impls without content.
pub fn hyper(item: TokenStream) -> TokenStream {
    expand(item.clone()).unwrap_or_else(|error| {
        let errors = error.into_compile_error();
        let impls = emit::hyper_fallback(item);
        quote!(#impls #errors)
    })
}

fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let input = parse::hyper(item)?;
    let hypers = model::hypers(&input);
    check::hypers(&hypers)?;
    Ok(emit::hypers(&hypers))
}

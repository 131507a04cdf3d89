//! The driver of `#[federated]`.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{check, emit, model, parse};

/// Expands `#[federated(attr)] item`.
///
/// On errors the result is a `compile_error!` for each, and the user's item for editors, so that
/// completion survives half-typed code.
pub fn federated(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand(attr.clone(), item.clone()).unwrap_or_else(|error| {
        let errors = error.into_compile_error();
        let item = emit::fallback(attr, item);
        quote!(#item #errors)
    })
}

fn expand(attr: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let input = parse::federated(attr, item)?;
    let spec = model::spec(&input);
    check::spec(&spec)?;
    Ok(emit::spec(&spec))
}

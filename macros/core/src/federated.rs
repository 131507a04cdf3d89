//! The driver of `#[federated]`.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{check, emit, model, parse};

/// Expands `#[federated(attr)] item`.
///
/// On errors the result is a `compile_error!` for each, the user's item for editors, so that completion
/// survives half-typed code, and for rustc what of the impl can be compiled, so that it reports the errors
/// of types, too.
pub fn federated(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand(attr.clone(), item.clone()).unwrap_or_else(|(error, rest)| {
        let errors = error.into_compile_error();
        let item = emit::fallback(attr, item, rest);
        quote!(#item #errors)
    })
}

/// The expansion, or the errors and what can be compiled all the same.
fn expand(
    attr: TokenStream,
    item: TokenStream,
) -> Result<TokenStream, (syn::Error, Option<TokenStream>)> {
    let input = parse::federated(attr, item).map_err(|error| (error, None))?;
    let spec = model::spec(&input);
    check::spec(&spec).map_err(|faults| {
        let sound = faults.sound;
        (faults.error, sound.map(|sound| emit::sound(&spec, &sound)))
    })?;
    Ok(emit::spec(&spec))
}

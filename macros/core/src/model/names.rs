//! The path by which emitted code refers to fedround.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Path;

/// The path of the fedround crate as the user's crate sees it.
pub struct Names {
    krate: Option<Path>,
}

impl Names {
    /// `crate = path`, or `::fedround`.
    pub fn new(krate: Option<Path>) -> Self {
        Self { krate }
    }

    /// `::fedround::__private` at a token of the user's, so that what rustc has to say about the
    /// call, and the location that the call records, are there and not at the attribute.
    pub fn private(&self, span: Span) -> TokenStream {
        match &self.krate {
            Some(krate) => quote!(#krate::__private),
            None => quote_spanned!(span=> ::fedround::__private),
        }
    }
}

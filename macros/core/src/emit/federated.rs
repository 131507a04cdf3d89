//! The impl with rewritten bodies, and `define`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, ImplItem};

use super::body;
use crate::model::{SlotImpl, Spec};

/// The expansion of `#[federated]`.
pub fn spec(spec: &Spec<'_>) -> TokenStream {
    let mut item = spec.item.clone();
    let mut slots = spec.slots.iter();
    for member in &mut item.items {
        if let ImplItem::Fn(method) = member
            && let Some(slot) = slots.next()
        {
            body::rewrite(&mut method.block, &slot.body, spec);
        }
    }
    item.items.push(ImplItem::Verbatim(define(spec)));
    item.into_token_stream()
}

/// `define`: the base's layer, this layer, and each slot that the impl has. The trait is named as
/// the user named it, as methods can be called only where a trait is in scope.
fn define(spec: &Spec<'_>) -> TokenStream {
    let private = spec.names.private(Span::call_site());
    let algorithm = spec.item.trait_.as_ref().map(|(_, path, _)| path);
    let base = spec
        .base
        .map(|base| quote!(#algorithm::define(&self.#base, m);));
    let slots = spec.slots.iter().map(|slot| {
        let name = &slot.method.sig.ident;
        let params = params(slot);
        // A definition is located at the slot's name; `m` and `self` are the parameters below,
        // whichever macro the name may come from.
        let (m, this) = (
            Ident::new("m", Span::call_site()),
            Ident::new("self", Span::call_site()),
        );
        quote_spanned! {name.span()=>
            #m.#name(|#(#params),*| #algorithm::#name(#this, #(#params),*));
        }
    });
    quote! {
        #[doc(hidden)]
        fn define(&self, m: &mut #private::Definer) {
            #base
            m.layer(self);
            #(#slots)*
        }
    }
}

fn params(slot: &SlotImpl<'_>) -> Vec<Ident> {
    let params = slot.slot.map(|slot| slot.params()).unwrap_or_default();
    params
        .iter()
        .map(|(name, _)| format_ident!("{name}"))
        .collect()
}

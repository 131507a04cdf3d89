//! The impl with rewritten bodies, and `define`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, ImplItem, parse_quote};

use super::body;
use crate::model::{HookImpl, Spec, block_body, params as variables};

/// The expansion of `#[federated]`.
pub fn spec(spec: &Spec<'_>) -> TokenStream {
    let mut item = spec.item.clone();
    let mut hooks = spec.hooks.iter();
    for member in &mut item.items {
        if let ImplItem::Fn(method) = member
            && let Some(hook) = hooks.next()
        {
            body::rewrite(&mut method.block, &hook.body, spec);
        }
    }
    item.items.push(ImplItem::Verbatim(define(spec)));
    item.into_token_stream()
}

/// The impl with the statements of each body that keep the rules. A body that lost some ends in `loop {}`,
/// which has any type.
pub fn sound(spec: &Spec<'_>, statements: &[usize]) -> TokenStream {
    let mut item = spec.item.clone();
    let mut hooks = spec.hooks.iter().zip(statements);
    for member in &mut item.items {
        if let ImplItem::Fn(method) = member
            && let Some((hook, &count)) = hooks.next()
        {
            let whole = count == method.block.stmts.len();
            method.block.stmts.truncate(count);
            let block = method.block.clone();
            let model = block_body(variables(hook.method), &block, spec.base);
            body::rewrite(&mut method.block, &model, spec);
            if !whole {
                method.block.stmts.push(parse_quote!(loop {}));
            }
        }
    }
    let private = spec.names.private(Span::call_site());
    item.items.push(ImplItem::Verbatim(quote! {
        fn define(&self, _: &mut #private::Definer) {}
    }));
    item.attrs.push(parse_quote!(#[allow(unused, clippy::all)]));
    item.into_token_stream()
}

/// `define`: the base's layer, this layer, and each hook that the impl has, where its `#[cfg(..)]` holds. The
/// trait is named as the user named it, as methods can be called only where a trait is in scope.
fn define(spec: &Spec<'_>) -> TokenStream {
    let private = spec.names.private(Span::call_site());
    let algorithm = spec.item.trait_.as_ref().map(|(_, path, _)| path);
    let base = spec
        .base
        .map(|base| quote!(#algorithm::define(&self.#base, m);));
    let hooks = spec.hooks.iter().map(|hook| {
        let name = &hook.method.sig.ident;
        let params = params(hook);
        // A definition is located at the hook's name; `m` and `self` are the parameters below,
        // whichever macro the name may come from.
        let (m, this) = (
            Ident::new("m", Span::call_site()),
            Ident::new("self", Span::call_site()),
        );
        let conditions = hook.conditions();
        quote_spanned! {name.span()=>
            #(#conditions)*
            #m.#name(|#(#params),*| #algorithm::#name(#this, #(#params),*));
        }
    });
    quote! {
        #[doc(hidden)]
        fn define(&self, m: &mut #private::Definer) {
            #base
            m.layer(self);
            #(#hooks)*
        }
    }
}

fn params(hook: &HookImpl<'_>) -> Vec<Ident> {
    let params = hook.hook.map(|hook| hook.params).unwrap_or_default();
    params
        .iter()
        .map(|(name, _)| format_ident!("{name}"))
        .collect()
}

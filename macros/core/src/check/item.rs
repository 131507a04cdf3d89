//! Rules on the impl as a whole.

use quote::ToTokens;
use syn::ImplItem;

use crate::diagnostics::Diagnostics;
use crate::model::{Hook, Spec};

pub fn check(spec: &Spec<'_>, diagnostics: &mut Diagnostics) {
    check_trait(spec, diagnostics);
    check_only_methods(spec, diagnostics);
}

/// The impl is one of `Algorithm`: the hooks are that trait's methods. Only the last segment can
/// be compared, as a macro does not see what a path means.
fn check_trait(spec: &Spec<'_>, diagnostics: &mut Diagnostics) {
    const HELP: &str = "the hooks are methods of that trait: `impl Algorithm for FedAvg { .. }`";
    let Some((negative, path, _)) = &spec.item.trait_ else {
        diagnostics.error(
            spec.item.impl_token,
            "expected `impl Algorithm for ..`, found an impl without a trait",
            HELP,
        );
        return;
    };
    if let Some(token) = negative {
        diagnostics.error(token, "expected `Algorithm`, found `!`", HELP);
    }
    if let Some(last) = path
        .segments
        .last()
        .filter(|last| last.ident != "Algorithm")
    {
        let message = format!("expected the trait `Algorithm`, found `{}`", last.ident);
        diagnostics.error(last, message, HELP);
    }
}

/// Nothing but methods: `Algorithm` has no types or constants, and a macro call would hide hooks.
fn check_only_methods(spec: &Spec<'_>, diagnostics: &mut Diagnostics) {
    for item in &spec.item.items {
        let (token, found) = match item {
            ImplItem::Fn(_) => continue,
            ImplItem::Const(item) => (item.const_token.to_token_stream(), "a constant"),
            ImplItem::Type(item) => (item.type_token.to_token_stream(), "a type"),
            ImplItem::Macro(item) => (item.mac.path.to_token_stream(), "a macro call"),
            other => (other.to_token_stream(), "another item"),
        };
        diagnostics.error(
            token,
            format!("expected a hook's method, found {found}"),
            format!("the hooks are `{}`", Hook::names().join("`, `")),
        );
    }
}

//! Rules on the impl as a whole.

use quote::ToTokens;
use syn::{ImplItem, Type, TypeParam, TypeParamBound, WherePredicate};

use crate::diagnostics::Diagnostics;
use crate::model::{Hook, SelfUse, Spec};

pub fn check(spec: &Spec<'_>, diagnostics: &mut Diagnostics) {
    check_trait(spec, diagnostics);
    check_base(spec, diagnostics);
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

/// A type parameter is the base, and the base is declared: its hooks would be left out else. Where a body
/// calls a hook of an undeclared base, the rules on `self` report it there.
fn check_base(spec: &Spec<'_>, diagnostics: &mut Diagnostics) {
    if spec.base.is_some() {
        return;
    }
    let mut params = spec.item.generics.type_params();
    let Some(param) = params.find(|param| is_algorithm(param, spec)) else {
        return;
    };
    let mut selfs = spec.hooks.iter().flat_map(|hook| &hook.body.selfs);
    if selfs.any(|used| matches!(used.what, SelfUse::NotBase(..))) {
        return;
    }
    let name = &param.ident;
    diagnostics.error(
        param,
        format!("expected `#[federated(base = ..)]`, as `{name}` is the base, found none"),
        format!("name the field of type `{name}`: `#[federated(base = base)]`"),
    );
}

/// Whether `Algorithm` is a bound of a type parameter.
fn is_algorithm(param: &TypeParam, spec: &Spec<'_>) -> bool {
    let generics = &spec.item.generics;
    let predicates = generics.where_clause.iter().flat_map(|all| &all.predicates);
    let of_param = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(of) => match &of.bounded_ty {
            Type::Path(ty) if ty.path.is_ident(&param.ident) => Some(&of.bounds),
            _ => None,
        },
        _ => None,
    });
    let mut bounds = std::iter::once(&param.bounds).chain(of_param).flatten();
    bounds.any(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            let last = bound.path.segments.last();
            last.is_some_and(|last| last.ident == "Algorithm")
        }
        _ => false,
    })
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

//! Rules on `self`: its hooks, its hyper-parameters and its base.

use syn::{ExprMethodCall, Ident};

use crate::diagnostics::Diagnostics;
use crate::model::{Body, Hook, SelfRef, SelfUse};
use crate::suggestion::hook_suggestion;

pub fn check(body: &Body<'_>, base: Option<&Ident>, diagnostics: &mut Diagnostics) {
    for used in &body.selfs {
        check_hook(used, diagnostics);
        check_known(used, diagnostics);
        check_base(used, base, diagnostics);
        check_whole(used, diagnostics);
    }
}

fn called_hook<'a>(used: &SelfRef<'a>) -> Option<&'a ExprMethodCall> {
    match used.what {
        SelfUse::Hook(call) | SelfUse::Base(call) => Some(call),
        _ => None,
    }
}

/// A method of `self` is a hook. A helper would run while the graph is built, with nothing of it
/// overridable, so that it is a free function.
fn check_hook(used: &SelfRef<'_>, diagnostics: &mut Diagnostics) {
    let Some(call) = called_hook(used) else {
        return;
    };
    let name = call.method.to_string();
    if Hook::from_name(&name).is_none() {
        diagnostics.error(
            &call.method,
            format!("expected a hook, found `{name}`"),
            hook_suggestion(&name),
        );
    }
}

/// A condition is decided before the graph runs, and a hook's value is known after.
fn check_known(used: &SelfRef<'_>, diagnostics: &mut Diagnostics) {
    if let Some(call) = called_hook(used).filter(|_| used.in_condition) {
        diagnostics.error(
            &call.method,
            format!(
                "expected a hyper-parameter, found the hook `{}`",
                call.method
            ),
            "an `if` or `match` is decided when the graph is built; what a hook returns is known \
             when it runs",
        );
    }
}

/// The base is declared, and reached only through its hooks: its fields are its own.
fn check_base(used: &SelfRef<'_>, base: Option<&Ident>, diagnostics: &mut Diagnostics) {
    match (used.what, base) {
        (SelfUse::NotBase(call, field), None) => diagnostics.error(
            field,
            format!("expected `self.{}(..)`, found a hook of the field `{field}`", call.method),
            format!("if `{field}` holds the algorithm that this one is added to, write `#[federated(base = {field})]`"),
        ),
        (SelfUse::NotBase(call, field), Some(base)) => diagnostics.error(
            field,
            format!("expected the base `{base}`, found `{field}`"),
            format!("only the base has hooks: `self.{base}.{}(..)`", call.method),
        ),
        (SelfUse::BareBase(field), _) => diagnostics.error(
            field,
            "expected a call of a hook of the base, found the base itself",
            "the base is reached through its hooks: `self.base.regularizer(k, w)`; its hyper-parameters are its \
             own: declare yours in this struct",
        ),
        _ => {}
    }
}

/// `self` is not passed on: code out of the macro's sight would see plain numbers and the wrong
/// hooks.
fn check_whole(used: &SelfRef<'_>, diagnostics: &mut Diagnostics) {
    match used.what {
        SelfUse::Bare(path) => diagnostics.error(
            path,
            "expected `self.hook(..)` or `self.field`, found `self`",
            "a helper is a function that takes the values it needs",
        ),
        SelfUse::Unnamed(field) => diagnostics.error(
            field,
            "expected a named field, found a number",
            "hyper-parameters have names: `struct FedProx { pub mu: f32 }`",
        ),
        _ => {}
    }
}

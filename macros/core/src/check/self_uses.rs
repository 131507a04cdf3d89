//! Rules on `self`: its slots, its hyper-parameters and its base.

use syn::{ExprMethodCall, Ident};

use crate::diagnostics::Diagnostics;
use crate::model::{Body, SelfRef, SelfUse, Slot};
use crate::nearest::slot_suggestion;

pub fn check(body: &Body<'_>, base: Option<&Ident>, diagnostics: &mut Diagnostics) {
    for used in &body.selfs {
        check_slot(used, diagnostics);
        check_known(used, diagnostics);
        check_base(used, base, diagnostics);
        check_whole(used, diagnostics);
    }
}

fn called_slot<'a>(used: &SelfRef<'a>) -> Option<&'a ExprMethodCall> {
    match used.what {
        SelfUse::Slot(call) | SelfUse::Base(call) => Some(call),
        _ => None,
    }
}

/// A method of `self` is a slot. A helper would run while the graph is built, with nothing of it
/// overridable, so that it is a free function.
fn check_slot(used: &SelfRef<'_>, diagnostics: &mut Diagnostics) {
    let Some(call) = called_slot(used) else {
        return;
    };
    let name = call.method.to_string();
    if Slot::from_name(&name).is_none() {
        diagnostics.error(
            &call.method,
            format!("expected a slot, found `{name}`"),
            slot_suggestion(&name),
        );
    }
}

/// A condition is decided before the graph runs, and a slot's value is known after.
fn check_known(used: &SelfRef<'_>, diagnostics: &mut Diagnostics) {
    if let Some(call) = called_slot(used).filter(|_| used.in_condition) {
        diagnostics.error(
            &call.method,
            format!(
                "expected a hyper-parameter, found the slot `{}`",
                call.method
            ),
            "an `if` or `match` is decided when the graph is built; what a slot returns is known \
             when it runs",
        );
    }
}

/// The base is declared, and reached only through its slots: its fields are its own.
fn check_base(used: &SelfRef<'_>, base: Option<&Ident>, diagnostics: &mut Diagnostics) {
    match (used.what, base) {
        (SelfUse::NotBase(call, field), None) => diagnostics.error(
            field,
            format!("expected `self.{}(..)`, found a slot of the field `{field}`", call.method),
            format!("if `{field}` holds the algorithm that this one is added to, write `#[federated(base = {field})]`"),
        ),
        (SelfUse::NotBase(call, field), Some(base)) => diagnostics.error(
            field,
            format!("expected the base `{base}`, found `{field}`"),
            format!("only the base has slots: `self.{base}.{}(..)`", call.method),
        ),
        (SelfUse::BareBase(field), _) => diagnostics.error(
            field,
            "expected a call of a slot of the base, found the base itself",
            "the base is reached through its slots: `self.base.penalty(k, w)`",
        ),
        _ => {}
    }
}

/// `self` is not passed on: code out of the macro's sight would see plain numbers and the wrong
/// slots.
fn check_whole(used: &SelfRef<'_>, diagnostics: &mut Diagnostics) {
    match used.what {
        SelfUse::Bare(path) => diagnostics.error(
            path,
            "expected `self.slot(..)` or `self.field`, found `self`",
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

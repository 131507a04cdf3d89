//! The meaning of an expression with `self`. `check` and `emit` both ask here.

use syn::{Expr, ExprField, ExprMethodCall, ExprPath, Ident, Member};

use super::Hook;

/// A use of `self`.
#[derive(Clone, Copy)]
pub enum SelfUse<'a> {
    /// `self.hook(..)`: a hook of the composed algorithm.
    Hook(&'a ExprMethodCall),
    /// `self.base.hook(..)`: the next inner definition of a hook.
    Base(&'a ExprMethodCall),
    /// `self.other.hook(..)`, where `other` was not declared as the base.
    NotBase(&'a ExprMethodCall, &'a Ident),
    /// `self.base` without a hook.
    BareBase(&'a ExprField),
    /// `self.field`: a hyper-parameter.
    Hyper(&'a Ident),
    /// `self.0`.
    Unnamed(&'a ExprField),
    /// `self` alone.
    Bare(&'a ExprPath),
}

/// What `expr` means if it is one of the forms of [`SelfUse`]; its arguments are not looked at.
pub fn classify<'a>(expr: &'a Expr, base: Option<&Ident>) -> Option<SelfUse<'a>> {
    match expr {
        Expr::MethodCall(call) if is_self(&call.receiver) => Some(SelfUse::Hook(call)),
        Expr::MethodCall(call) => {
            let (_, field) = self_field(&call.receiver)?;
            let Member::Named(field) = field else {
                return None;
            };
            if base.is_some_and(|base| base == field) {
                Some(SelfUse::Base(call))
            } else if Hook::from_name(&call.method.to_string()).is_some() {
                Some(SelfUse::NotBase(call, field))
            } else {
                None
            }
        }
        Expr::Field(_) => {
            let (whole, field) = self_field(expr)?;
            Some(match field {
                Member::Named(field) if base.is_some_and(|base| base == field) => {
                    SelfUse::BareBase(whole)
                }
                Member::Named(field) => SelfUse::Hyper(field),
                Member::Unnamed(_) => SelfUse::Unnamed(whole),
            })
        }
        Expr::Path(path) if path.path.is_ident("self") => Some(SelfUse::Bare(path)),
        _ => None,
    }
}

fn self_field(expr: &Expr) -> Option<(&ExprField, &Member)> {
    match strip(expr) {
        Expr::Field(field) if is_self(&field.base) => Some((field, &field.member)),
        _ => None,
    }
}

fn is_self(expr: &Expr) -> bool {
    matches!(strip(expr), Expr::Path(path) if path.path.is_ident("self"))
}

/// Parentheses and the invisible groups of `macro_rules!` mean nothing here.
fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => strip(&inner.expr),
        Expr::Group(inner) => strip(&inner.expr),
        _ => expr,
    }
}

//! Rules on the conditions of `if`, the values of `match` and its guards.

use syn::{Expr, UnOp};

use crate::diagnostics::{Diagnostics, text};
use crate::model::Body;

const HELP: &str = "an `if` or `match` is decided when the graph is built, \
    so it can depend on hyper-parameters only: `if self.mu > 0.0 { .. }`; \
    between numbers of the graph `x.select(a, b)` chooses: `a` where `x > 0`, else `b`";

pub fn check(body: &Body<'_>, diagnostics: &mut Diagnostics) {
    for condition in &body.conditions {
        check_known(condition.expr, &condition.bound, diagnostics);
    }
}

/// Only what is known when the graph is built: `self`'s fields, literals, constants, and plain
/// operations on them. A variable of the body holds a value of the graph.
fn check_known(expr: &Expr, bound: &[String], diagnostics: &mut Diagnostics) {
    match expr {
        Expr::Lit(_) => {}
        Expr::Paren(e) => check_known(&e.expr, bound, diagnostics),
        Expr::Group(e) => check_known(&e.expr, bound, diagnostics),
        Expr::Cast(e) => check_known(&e.expr, bound, diagnostics),
        Expr::Field(e) => check_known(&e.base, bound, diagnostics),
        Expr::Reference(e) if e.mutability.is_none() => check_known(&e.expr, bound, diagnostics),
        Expr::Unary(e) if !matches!(e.op, UnOp::Deref(_)) => {
            check_known(&e.expr, bound, diagnostics)
        }
        Expr::Binary(e) => {
            check_known(&e.left, bound, diagnostics);
            check_known(&e.right, bound, diagnostics);
        }
        Expr::Tuple(e) => e
            .elems
            .iter()
            .for_each(|e| check_known(e, bound, diagnostics)),
        Expr::MethodCall(e) => {
            // `server.phase("warm_up", self.warm_up)` is known, though `server` is a variable.
            if e.method != "phase" && e.method != "evaluation" {
                check_known(&e.receiver, bound, diagnostics);
            }
            e.args
                .iter()
                .for_each(|e| check_known(e, bound, diagnostics));
        }
        Expr::Call(e) => e
            .args
            .iter()
            .for_each(|e| check_known(e, bound, diagnostics)),
        Expr::Path(e) => {
            let variable = e.path.get_ident().filter(|name| {
                let name = name.to_string();
                name != "self" && !name.starts_with(char::is_uppercase) && !bound.contains(&name)
            });
            if let Some(name) = variable {
                let message = format!(
                    "expected a hyper-parameter such as `self.mu`, found the variable `{name}`"
                );
                diagnostics.error(name, message, HELP);
            }
        }
        Expr::Let(e) => diagnostics.error(e.let_token, "expected a condition, found `let`", HELP),
        other => {
            let found = text(other);
            diagnostics.error(
                other,
                format!("expected a hyper-parameter, found `{found}`"),
                HELP,
            );
        }
    }
}

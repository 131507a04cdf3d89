//! Rules on `for` loops in the code of an algorithm.

use syn::{Expr, ExprForLoop, ExprRange, Lit, RangeLimits};

use crate::diagnostics::{Diagnostics, text};
use crate::model::{Body, Loop, named_turns};

/// How many variables a loop can carry: `LoopState` is implemented for tuples up to this size.
const MAX_CARRIED: usize = 6;

/// Rules on what is written after `for`.
pub fn check_forms(body: &Body<'_>, diagnostics: &mut Diagnostics) {
    for one in &body.loops {
        check_label(one.node, diagnostics);
        match &*one.node.expr {
            Expr::Range(range) => check_range(range, diagnostics),
            other => check_iterator(other, diagnostics),
        }
    }
}

/// Rules on the variables that a loop assigns.
pub fn check_carried(body: &Body<'_>, diagnostics: &mut Diagnostics) {
    for one in &body.loops {
        check_carries(one, diagnostics);
    }
}

/// No label: nothing could refer to it.
fn check_label(node: &ExprForLoop, diagnostics: &mut Diagnostics) {
    if let Some(label) = &node.label {
        diagnostics.error(
            label,
            format!("expected `for`, found the label `{}`", label.name),
            "a loop of the graph always makes all of its turns, so that it needs no label",
        );
    }
}

/// `0..n`: the graph's loop is a number of turns.
fn check_range(range: &ExprRange, diagnostics: &mut Diagnostics) {
    const HELP: &str = "a loop counts its turns from 0: `for _ in 0..n`, or `for j in 0..n` where each turn is \
                        written out with its number";
    match &range.start {
        Some(start) if is_zero(start) => {}
        Some(start) => {
            let found = text(start);
            let message = format!("expected a range from `0`, found one from `{found}`");
            diagnostics.error(start, message, HELP);
        }
        None => diagnostics.error(
            range.limits,
            "expected a range from `0`, found no start",
            HELP,
        ),
    }
    if let RangeLimits::Closed(token) = &range.limits {
        diagnostics.error(token, "expected `..`, found `..=`", HELP);
    }
    if range.end.is_none() {
        diagnostics.error(
            range.limits,
            "expected the number of turns, found no end",
            HELP,
        );
    }
}

fn is_zero(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(lit) => matches!(&lit.lit, Lit::Int(int) if int.base10_digits() == "0"),
        Expr::Group(inner) => is_zero(&inner.expr),
        _ => false,
    }
}

/// Otherwise a value of the graph that has turns; whether it is one is for rustc to say. Arrays,
/// references and the like never are.
fn check_iterator(expr: &Expr, diagnostics: &mut Diagnostics) {
    if let Expr::MethodCall(call) = expr
        && call.method == "enumerate"
    {
        return diagnostics.error(
            &call.method,
            "expected `k.batches(..)` or a range `0..n`, found `enumerate`",
            "count the steps in the loop: `let mut i = Scalar::from(0.0);` before it, and `i += 1.0;` at the end of \
             its body; in `for j in 0..n`, `j` is the number of the turn",
        );
    }
    if !may_have_turns(expr) {
        diagnostics.error(
            expr,
            "expected `k.batches(..)` or a range `0..n`, found another expression",
            "a loop of the graph is over a client's batches or a number of turns",
        );
    }
}

/// Whether an iterator can be a value of the graph, by its form.
pub fn may_have_turns(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(_) | Expr::Call(_) | Expr::Path(_) | Expr::Field(_) => true,
        Expr::Paren(inner) => may_have_turns(&inner.expr),
        Expr::Group(inner) => may_have_turns(&inner.expr),
        _ => false,
    }
}

/// At least one variable, as the loop's value is what it carries, and no more than a tuple holds. A loop
/// whose turns are written out carries nothing in the graph, and may be there for what it does, such as
/// setting states.
fn check_carries(one: &Loop<'_>, diagnostics: &mut Diagnostics) {
    let token = &one.node.for_token;
    match one.carried.len() {
        _ if named_turns(one.node) => {}
        0 => diagnostics.error(
            token,
            "expected a loop that assigns a variable declared before it, found none",
            "a loop of the graph hands variables from turn to turn: `let mut w = w; for .. { w -= ..; }`",
        ),
        1..=MAX_CARRIED => {}
        n => diagnostics.error(
            token,
            format!("expected at most {MAX_CARRIED} variables assigned in a loop, found {n}"),
            "declare those that are not needed after the loop inside of it",
        ),
    }
}

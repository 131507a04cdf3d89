//! Elements of lists, and zips, which are no iterators.

use quote::ToTokens;
use syn::{Expr, ExprIndex, ExprMethodCall, Member};

use crate::diagnostics::Diagnostics;

const INDEX_HELP: &str = "only the elements of a list have numbers: `models[j]` in `for j in 0..n`; \
    values of the graph have none: take rows by `k.sample_rows(..)` or `k.smallest(..)`";

/// Methods of iterators that values of clients do not have.
const OF_ITERATORS: &[&str] = &[
    "all",
    "any",
    "chain",
    "collect",
    "count",
    "enumerate",
    "filter",
    "filter_map",
    "find",
    "flat_map",
    "flatten",
    "fold",
    "for_each",
    "into_iter",
    "iter",
    "last",
    "nth",
    "product",
    "reduce",
    "rev",
    "skip",
    "take",
    "unzip",
];

/// An element is a variable at a literal, or at a variable such as the number of a loop's turn.
pub(super) fn check_index(index: &ExprIndex, diagnostics: &mut Diagnostics) {
    let list = matches!(&*index.expr, Expr::Path(_));
    match &*index.index {
        Expr::Path(_) | Expr::Lit(_) if list => {}
        Expr::Field(field) if list && is_self(&field.base) => {
            let name = match &field.member {
                Member::Named(name) => name.to_string(),
                Member::Unnamed(place) => place.index.to_string(),
            };
            let list = index.expr.to_token_stream();
            diagnostics.error(
                field,
                format!("expected a number of type `usize`, found the hyper-parameter `self.{name}`, an `Index` of the graph"),
                format!("elements are `{list}[0]` or, in `for j in 0..n`, `{list}[j]`; an element that a value chooses is `pick(&{list}, &place)`, with a `Scalar`"),
            );
        }
        place if list && is_computed(place) => {
            let list = index.expr.to_token_stream();
            diagnostics.error(
                place,
                "expected a variable or a literal as an element's number, found an expression",
                format!(
                    "give it a name on a line before: `let next = {};`, then `{list}[next]`",
                    index.index.to_token_stream()
                ),
            );
        }
        _ => diagnostics.error(index, "expected a value, found an index", INDEX_HELP),
    }
}

/// Whether it computes a number, such as `j + 1`.
fn is_computed(place: &Expr) -> bool {
    match place {
        Expr::Paren(inner) => is_computed(&inner.expr),
        Expr::Binary(_) | Expr::MethodCall(_) | Expr::Cast(_) => true,
        _ => false,
    }
}

/// `a_k.zip(&b_k)` has `map` and `zip`.
pub(super) fn check_zip(call: &ExprMethodCall, diagnostics: &mut Diagnostics) {
    let Expr::MethodCall(zip) = &*call.receiver else {
        return;
    };
    let method = call.method.to_string();
    let of_values = zip.method == "zip" && !is_iterator(&zip.receiver);
    if of_values && OF_ITERATORS.contains(&&*method) {
        diagnostics.error(
            &call.method,
            format!("expected `map` or `zip` after a zip of clients' values, found `{method}`"),
            "a zip is no iterator: its code runs on every client, `a_k.zip(&b_k).map(|k, (a, b)| ..)`, and a \
             sum or mean of what that gives combines the clients; the server chooses clients by \
             `server.clients_where(..)`",
        );
    }
}

/// Whether an expression is made an iterator anywhere in its chain of calls, as in `list.iter().map(..)`.
fn is_iterator(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => {
            OF_ITERATORS.iter().any(|name| call.method == name) || is_iterator(&call.receiver)
        }
        _ => false,
    }
}

fn is_self(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident("self"))
}

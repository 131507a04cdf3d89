//! Rewrites `for` to a region with carried variables.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::{Expr, ExprForLoop};

use crate::model::{Loop, Names, named_turns};

/// `(w,) = for_each(iter, (w,), |b, (w,)| { let mut w = w; { body } (w,) })`.
///
/// Without a variable that it changes, it is `for_each(iter, (), |b, ()| { body })`. The body keeps a block of its
/// own, so that a `let` in it cannot shadow what is carried.
pub fn for_each(one: &ExprForLoop, model: Option<&Loop<'_>>, names: &Names) -> Expr {
    let span = one.for_token.span;
    let private = names.private(span);
    let carried = model
        .map(|model| model.carried.as_slice())
        .unwrap_or_default();
    let body = &one.body;
    let (pattern, iter) = turns(one, &private);
    if carried.is_empty() {
        return Expr::Verbatim(quote_spanned! {span=>
            #private::for_each(#iter, (), |#pattern, ()| #body)
        });
    }
    let tuple = quote_spanned!(span=> (#(#carried,)*));
    let staged = quote_spanned! {span=>
        #tuple = #private::for_each(#iter, #tuple, |#pattern, #tuple| {
            #(#[allow(unused_assignments)] let mut #carried = #carried;)*
            #body
            #tuple
        })
    };
    // Read, so that rustc does not warn of a variable that only the next turn reads.
    Expr::Verbatim(quote_spanned!(span=> { #staged; #(let _ = &#carried;)* }))
}

/// The pattern and the iterator: `0..n` is `range(n)`, whose turns are `()`, or `turns(n)`, which are
/// written out one by one, where the pattern names them; anything else stages its own turns.
fn turns(one: &ExprForLoop, private: &TokenStream) -> (TokenStream, TokenStream) {
    let span = one.for_token.span;
    let pattern = &one.pat;
    let Expr::Range(range) = &*one.expr else {
        return (pattern.to_token_stream(), one.expr.to_token_stream());
    };
    let end = &range.end;
    match named_turns(one) {
        true => {
            let pattern = pattern.to_token_stream();
            (pattern, quote_spanned!(span=> #private::turns(#end)))
        }
        false => {
            let pattern = quote_spanned!(span=> ());
            (pattern, quote_spanned!(span=> #private::range(#end)))
        }
    }
}

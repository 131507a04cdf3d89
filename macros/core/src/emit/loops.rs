//! Rewrites `for` to a region with carried variables.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::{Expr, ExprForLoop, ExprRange};

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
    let (function, pattern, iter) = head(one, &private);
    if carried.is_empty() {
        return Expr::Verbatim(quote_spanned! {span=>
            #private::#function(#iter, (), |#pattern, ()| #body)
        });
    }
    let tuple = quote_spanned!(span=> (#(#carried,)*));
    let staged = quote_spanned! {span=>
        #tuple = #private::#function(#iter, #tuple, |#pattern, #tuple| {
            #(#[allow(unused_assignments)] let mut #carried = #carried;)*
            #body
            #tuple
        })
    };
    // Read, so that rustc does not warn of a variable that only the next turn reads.
    Expr::Verbatim(quote_spanned!(span=> { #staged; #(let _ = &#carried;)* }))
}

/// What a loop is handed to, the pattern of its turns, and its turns. `0..n` is `for_turns(n)`, whose turns are written
/// out one by one, where the pattern names them, or else `for_each(range(n))`, whose turns are `()`; anything else
/// stages its own turns.
fn head(one: &ExprForLoop, private: &TokenStream) -> (TokenStream, TokenStream, TokenStream) {
    let span = one.for_token.span;
    let pattern = one.pat.to_token_stream();
    let for_each = quote_spanned!(span=> for_each);
    match &*one.expr {
        Expr::Range(range) if named_turns(one) => {
            let for_turns = quote_spanned!(span=> for_turns);
            (for_turns, pattern, range.end.to_token_stream())
        }
        Expr::Range(ExprRange { end, .. }) => {
            let range = quote_spanned!(span=> #private::range(#end));
            (for_each, quote_spanned!(span=> ()), range)
        }
        other => (for_each, pattern, other.to_token_stream()),
    }
}

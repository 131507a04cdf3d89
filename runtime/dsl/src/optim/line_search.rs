//! The backtracking line search of L-BFGS.

use fedround_ir::Loc;

use crate::loops::{Repeat, for_each};
use crate::scalar_functions::Real;
use crate::wire::Wire;
use crate::{Index, Params, Scalar};

/// The fraction of the predicted decrease that is enough: `c₁` of Nocedal & Wright 2006, Algorithm 3.1.
const PART: f64 = 1e-4;

/// The first of `η`, `η/2`, `η/4`, … with `f(w − η d) < f(w) − c₁ η ⟨∇f(w), d⟩`; 0 if none of
/// `tries` is, also where the loss is not a number.
pub(super) fn armijo(
    lr: &Scalar,
    tries: &Index,
    (w, d): (&Params, &Params),
    (f, slope): (&Scalar, &Scalar),
    loss: impl Fn(&Params) -> Scalar,
    loc: Loc,
) -> Scalar {
    let graph = &w.graph;
    // Staged, so that the loop is: one over constants alone would be unrolled.
    let staged = |x: &Scalar| Scalar::bind(graph, x.value_in(graph, loc));
    let start = graph.located(loc, || (staged(lr), Scalar::from(0.0)));
    let (_, chosen) = for_each(Repeat::at(tries, loc), start, |(), (lr, chosen)| {
        let there = loss(&graph.located(loc, || w - &lr * d));
        graph.located(loc, || {
            let enough = f - PART * &lr * slope - there;
            let chosen = chosen.select(&chosen, enough.select(&lr, 0.0));
            (0.5 * lr, chosen)
        })
    });
    chosen
}

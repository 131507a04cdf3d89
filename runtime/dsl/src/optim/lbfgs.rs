//! The optimizer L-BFGS.

use fedround_ir::Loc;

use super::Optimizer;
use super::line_search::armijo;
use crate::loops::{Repeat, for_each};
use crate::rate::Rate;
use crate::scalar_functions::Real;
use crate::tree::{Tree, recast};
use crate::{Count, Index, Params, Scalar, value_and_grad};

/// Limited-memory BFGS: `d = H g`, where the inverse Hessian `H` is that of the last `m` moves
/// `sᵢ` and changes of the gradient `yᵢ`, applied by the two-loop recursion:
///
/// ```text
/// q ← g
/// newest to oldest:  αᵢ = ρᵢ ⟨sᵢ, q⟩,   q ← q − αᵢ yᵢ         ρᵢ = 1 / ⟨sᵢ, yᵢ⟩
/// d ← γ q                                                     γ = ⟨s, y⟩ / ⟨y, y⟩ of the newest
/// oldest to newest:  d ← d + (αᵢ − ρᵢ ⟨yᵢ, d⟩) sᵢ
/// ```
///
/// Nocedal & Wright 2006, "Numerical Optimization", Algorithms 7.4 and 7.5. The function must be the same
/// in every step, so take gradients on all data of a client and not on its batches.
///
/// The graph has no branches. A move without curvature, `⟨s, y⟩ ≤ 10⁻¹⁰` as in PyTorch, gets `ρ = 0`: it has
/// no influence, but takes one of the `m` places. The first direction is `g · min(1, 1/‖g‖)`, because the
/// scale of the function is not known yet.
#[derive(Clone, Debug)]
pub struct Lbfgs {
    lr: Scalar,
    history: usize,
    tries: Option<Index>,
}

impl Lbfgs {
    /// Keeps the last `m` moves and takes full steps.
    #[track_caller]
    pub fn new(history: usize) -> Self {
        Self {
            lr: Scalar::constant(1.0, Loc::caller()),
            history,
            tries: None,
        }
    }

    /// `η`: step size, or the first one that a search tries; 1 unless set.
    #[must_use]
    #[track_caller]
    pub fn lr(mut self, lr: impl Rate) -> Self {
        self.lr = lr.rate(Loc::caller());
        self
    }

    /// Makes [`minimize`](Self::minimize) search the step size. It takes the first of `η`, `η/2`, `η/4`, …
    /// that decreases the loss by a fraction of what the slope predicts, and makes no step if none of this
    /// many does, so that the loss never increases. In the graph all candidates are computed; on a CPU the loop
    /// ends once one is taken.
    #[must_use]
    #[track_caller]
    pub fn armijo(mut self, tries: impl Count) -> Self {
        self.tries = Some(tries.into_index());
        self
    }

    /// Minimizes a loss of `w`, parameters or features, in a number of iterations, and returns the result.
    /// The closure is run to record its ops, once for the gradient and once for the search.
    #[track_caller]
    pub fn minimize<T: Tree>(
        &self,
        w: &T,
        iterations: impl Count,
        loss: impl Fn(&T) -> Scalar,
    ) -> T {
        let loc = Loc::caller();
        let of = |w: &Params| loss(&recast(w, loc));
        recast(
            &self.descend(&recast(w, loc), iterations.into_index(), of, loc),
            loc,
        )
    }

    fn descend(
        &self,
        w: &Params,
        iterations: Index,
        loss: impl Fn(&Params) -> Scalar,
        loc: Loc,
    ) -> Params {
        let graph = &w.graph;
        let start = graph.located(loc, || (w.clone(), self.start(w)));
        let iterations = Repeat::at(&iterations, loc);
        let (w, _) = for_each(iterations, start, |(), (w, mut opt)| {
            let (f, g) = value_and_grad(&w, &loss);
            let d = opt.direction(&w, &g, loc);
            let lr = match &self.tries {
                Some(tries) => {
                    let slope = graph.located(loc, || g.dot(&d));
                    armijo(&self.lr, tries, (&w, &d), (&f, &slope), &loss, loc)
                }
                None => self.lr.clone(),
            };
            (graph.located(loc, || w - lr * d), opt)
        });
        w
    }
}

/// A move, the change of the gradient on it, and `ρ`.
type Pair = (Params, Params, Scalar);

impl Optimizer for Lbfgs {
    /// The pairs, oldest first; `γ`; where the last step was, its gradient, and 1 once there was one.
    type State = (Vec<Pair>, Scalar, Params, Params, Scalar);
    const STATE: &'static [&'static str] = &[];

    fn lr(&self) -> Scalar {
        self.lr.clone()
    }

    fn init(&self, w: &Params) -> Self::State {
        let zero = || Scalar::from(0.0);
        let pair = || (w.zeros_like(), w.zeros_like(), zero());
        let pairs = (0..self.history).map(|_| pair()).collect();
        (pairs, zero(), w.zeros_like(), w.zeros_like(), zero())
    }

    fn direction(&self, state: &mut Self::State, w: &Params, g: &Params) -> Params {
        let (pairs, gamma, last_w, last_g, started) = state;
        let s = &*started * (w - &*last_w);
        let y = &*started * (g - &*last_g);
        let sy = s.dot(&y);
        let curved = &sy - 1e-10;
        let rho = curved.select(1.0 / &sy, 0.0);
        *gamma = curved.select(&sy / y.sq_norm(), &*gamma);
        pairs.push((s, y, rho));
        if pairs.len() > self.history {
            pairs.remove(0);
        }

        let mut d = g.clone();
        let mut alphas = Vec::with_capacity(pairs.len());
        for (s, y, rho) in pairs.iter().rev() {
            let alpha = rho * s.dot(&d);
            d -= &alpha * y;
            alphas.push(alpha);
        }
        let first = (1.0 / g.sq_norm().sqrt()).min(1.0);
        d *= gamma.select(&*gamma, started.select(1.0, first));
        for ((s, y, rho), alpha) in pairs.iter().zip(alphas.iter().rev()) {
            d += (alpha - rho * y.dot(&d)) * s;
        }
        (*last_w, *last_g, *started) = (w.clone(), g.clone(), 1.0.into());
        d
    }
}

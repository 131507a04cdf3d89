//! Optimizers as graph code.
//!
//! An optimizer computes a *direction* `d` from a gradient `g`, and a step is `w ← w − η d`. Its state
//! consists of parameters and numbers of the graph. A loop carries the state together with the weights,
//! and `k.state` or `server.state` keeps it between rounds.
//!
//! ```ignore
//! fn client_update(&self, k: &ClientCx, w: Params) -> Params {
//!     let mut w = w;
//!     let mut opt = Adam::new(self.lr).start(&w);
//!     for b in k.batches(self.epochs, self.batch) {
//!         let g = self.gradient(k, &w, &b);
//!         opt.step(&mut w, g);
//!     }
//!     w
//! }
//! ```
//!
//! [`start`](Optimizer::start) begins with an empty state, as local optimizers of federated algorithms do
//! in every round. [`resume`](Optimizer::resume) and [`keep`](Running::keep) continue where the last round
//! ended. The same optimizers work on the server, where `g` is the movement of a round, `wᵗ − wᵗ⁺¹`.
//!
//! Formulas and defaults are those of PyTorch. Rates may be hyper-parameters, numbers of the graph, or
//! come from a [`schedule`]. Nothing is compiled again when they change, and a term whose factor is 0
//! leaves no op.
//!
//! To write your own optimizer, implement [`Optimizer`]: a state and a direction.

mod adam;
mod lbfgs;
mod line_search;
mod running;
pub mod schedule;
mod sgd;

pub use adam::Adam;
pub use lbfgs::Lbfgs;
pub use running::Running;
pub use sgd::Sgd;

use fedround_ir::Loc;

use crate::contexts::StateAccess;
use crate::loop_state::LoopState;
use crate::tree::{Tree, recast};
use crate::{Params, Scalar};

/// `λ w` for the leaves that gradients train. Running statistics do not decay.
fn decay(rate: &Scalar, w: &Params) -> Params {
    (rate * w).replace_parts(&["Buffer"], &w.zeros_like())
}

/// An optimizer. It is written with [`Params`] and [`Scalar`] only; [`Running`] makes it work on clients and
/// on the server.
pub trait Optimizer: Clone {
    /// The state between steps: a tuple or `Vec` of [`Params`] and [`Scalar`]s, or `()`.
    type State: LoopState;

    /// Names of the state's parts in order, as the paper has them.
    const STATE: &'static [&'static str];

    /// `η`: the step size, unless a step is called with another one.
    fn lr(&self) -> Scalar;

    /// All numbers that the optimizer was made with. A loop does not carry them, so one that starts the
    /// optimizer anew has to give it the same.
    fn settings(&self) -> Vec<Scalar> {
        vec![self.lr()]
    }

    /// The state before the first step. It must be zeros, like all state before it is set.
    fn init(&self, w: &Params) -> Self::State;

    /// Computes the direction `d` of a step at `w` with gradient `g`, and updates the state.
    fn direction(&self, state: &mut Self::State, w: &Params, g: &Params) -> Params;

    /// Starts with an empty state for parameters of the shape of `w`.
    #[track_caller]
    fn start<T: Tree>(&self, w: &T) -> Running<Self, T> {
        let loc = Loc::caller();
        let w: Params = recast(w, loc);
        let state = w.graph.located(loc, || self.init(&w));
        Running::new(self, state)
    }

    /// Continues from the state that [`Running::keep`] stored under a name. If there is none, the state is
    /// empty.
    #[track_caller]
    fn resume<K: StateAccess>(
        &self,
        keeper: &K,
        name: &str,
        w: &K::Params,
    ) -> Running<Self, K::Params> {
        self.start(w).read(keeper, name)
    }
}

//! Optimizers as graph code.
//!
//! An optimizer makes a *direction* `d` of a gradient `g`, and a step is `w ← w − η d`. What it
//! remembers from step to step, its state, is parameters and numbers of the graph: a loop carries
//! it with the weights, and `k.state` or `server.state` keeps it between rounds.
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
//! [`start`](Optimizer::start) begins with an empty state, as local optimizers of federated
//! algorithms do in every round; [`resume`](Optimizer::resume) and [`keep`](Running::keep) go on
//! where the last round ended. The same optimizers step on the server, where `g` is what a round
//! moved, `wᵗ − wᵗ⁺¹`. Formulas and defaults are PyTorch's. Rates may be hyper-parameters, numbers
//! of the graph, or come from a [`schedule`]; nothing is compiled anew when they change, and a
//! term whose factor is 0 leaves no op.
//!
//! An optimizer of one's own is an impl of [`Optimizer`]: a state and a direction.

mod adam;
pub(crate) mod clip;
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

use crate::contexts::Keeper;
use crate::loop_state::LoopState;
use crate::tree::{Tree, recast};
use crate::{Params, Scalar};

/// `λ w` on what gradients train: running statistics do not decay.
fn decay(rate: &Scalar, w: &Params) -> Params {
    (rate * w).replace_parts(&["Buffer"], &w.zeros_like())
}

/// How gradients become steps.
///
/// Written over [`Params`] and [`Scalar`] alone; [`Running`] makes it work at any place.
pub trait Optimizer: Clone {
    /// What it remembers between steps: a bundle of [`Params`] and [`Scalar`]s, `()` for nothing.
    type State: LoopState;

    /// Names of the state's parts in order, as the paper has them.
    const STATE: &'static [&'static str];

    /// `η`: the step size unless a step is given another.
    fn lr(&self) -> Scalar;

    /// The state before the first step: zeros, as all state is before it is set.
    fn init(&self, w: &Params) -> Self::State;

    /// `d`: what a step at `w` with gradient `g` descends, and the state after it.
    fn direction(&self, state: &mut Self::State, w: &Params, g: &Params) -> Params;

    /// Starts with no memory, for parameters like `w`.
    #[track_caller]
    fn start<T: Tree>(&self, w: &T) -> Running<Self, T> {
        let loc = Loc::caller();
        let w: Params = recast(w, loc);
        let state = w.graph.located(loc, || self.init(&w));
        Running::new(self, state)
    }

    /// Goes on from the state that [`Running::keep`] kept under a name; starts where there is none.
    #[track_caller]
    fn resume<K: Keeper>(&self, keeper: &K, name: &str, w: &K::Params) -> Running<Self, K::Params> {
        self.start(w).read(keeper, name)
    }
}

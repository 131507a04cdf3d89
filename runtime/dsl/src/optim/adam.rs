//! The optimizers Adam and AdamW.

use super::Optimizer;
use crate::rate::Rate;
use crate::scalar_functions::Real;
use crate::tree::Tree;
use crate::{Params, Scalar};
use fedround_ir::Loc;

/// Adam, and AdamW with [`decoupled`](Adam::decoupled) weight decay:
///
/// ```text
/// g ← g + λ w                       coupled
/// m ← β₁ m + (1 − β₁) g             c₁ ← β₁ c₁ + (1 − β₁)
/// v ← β₂ v + (1 − β₂) g ⊙ g         c₂ ← β₂ c₂ + (1 − β₂)
/// d = (m / c₁) ⊘ (√v / √c₂ + ε)     (+ λ w, decoupled)
/// w ← w − η d
/// ```
///
/// Kingma & Ba 2015, "Adam: A method for stochastic optimization", Algorithm 1; Loshchilov &
/// Hutter 2019, "Decoupled weight decay regularization", Algorithm 2. As `torch.optim.Adam` and
/// `AdamW`, whose `ε` is outside of the root too.
///
/// The bias corrections `1 − βᵗ` of the paper are computed as sums `c` of weights. These are the same
/// numbers, but `1 − βᵗ` in `f32` would lose digits for small `t`.
#[derive(Clone, Debug)]
pub struct Adam {
    lr: Scalar,
    beta1: Scalar,
    beta2: Scalar,
    eps: Scalar,
    weight_decay: Scalar,
    decoupled: bool,
}

impl Adam {
    /// Adam with step size `η`, `β₁ = 0.9`, `β₂ = 0.999`, `ε = 1e-8` and no weight decay.
    #[track_caller]
    pub fn new(lr: impl Rate) -> Self {
        let loc = Loc::caller();
        Self {
            lr: lr.rate(loc),
            beta1: Scalar::constant(0.9, loc),
            beta2: Scalar::constant(0.999, loc),
            eps: Scalar::constant(1e-8, loc),
            weight_decay: Scalar::constant(0.0, loc),
            decoupled: false,
        }
    }

    /// `β₁` and `β₂`: how much of the moments a step keeps.
    #[must_use]
    #[track_caller]
    pub fn betas(mut self, beta1: impl Rate, beta2: impl Rate) -> Self {
        let loc = Loc::caller();
        (self.beta1, self.beta2) = (beta1.rate(loc), beta2.rate(loc));
        self
    }

    /// `ε`, which is added to the root of the second moment. As the `τ` of FedAdam (Reddi et al. 2021), it is
    /// about 1e-3.
    #[must_use]
    #[track_caller]
    pub fn eps(mut self, eps: impl Rate) -> Self {
        self.eps = eps.rate(Loc::caller());
        self
    }

    /// `λ`: weight decay.
    #[must_use]
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: impl Rate) -> Self {
        self.weight_decay = weight_decay.rate(Loc::caller());
        self
    }

    /// Applies weight decay to the weights and not to the gradient: AdamW.
    #[must_use]
    pub fn decoupled(mut self) -> Self {
        self.decoupled = true;
        self
    }
}

impl Optimizer for Adam {
    type State = (Params, Params, Scalar, Scalar);
    const STATE: &'static [&'static str] = &["m", "v", "c1", "c2"];

    fn lr(&self) -> Scalar {
        self.lr.clone()
    }

    fn settings(&self) -> Vec<Scalar> {
        let Self {
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            decoupled,
        } = self.clone();
        vec![
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            f64::from(decoupled).into(),
        ]
    }

    fn init(&self, w: &Params) -> Self::State {
        let zero = || Scalar::from(0.0);
        (w.zeros_like(), w.zeros_like(), zero(), zero())
    }

    fn direction(&self, (m, v, c1, c2): &mut Self::State, w: &Params, g: &Params) -> Params {
        let decay = super::decay(&self.weight_decay, w);
        let g = if self.decoupled {
            g.clone()
        } else {
            g + &decay
        };
        let (rest1, rest2) = (1.0 - &self.beta1, 1.0 - &self.beta2);
        *m = &self.beta1 * &*m + &rest1 * &g;
        *v = &self.beta2 * &*v + &rest2 * Tree::mul(&g, &g);
        *c1 = &self.beta1 * &*c1 + rest1;
        *c2 = &self.beta2 * &*c2 + rest2;
        let root = (v.sqrt() / c2.sqrt()).add_scalar(&self.eps);
        let d = Tree::div(&(&*m / &*c1), &root);
        if self.decoupled { d + decay } else { d }
    }
}

//! Gradient descent and momentum.

use super::Optimizer;
use crate::rate::Rate;
use crate::tree::Tree;
use crate::{Params, Scalar};
use fedround_ir::Loc;

/// Stochastic gradient descent, with momentum and weight decay:
///
/// ```text
/// g ← g + λ w
/// v ← β v + g
/// d = v               Polyak
/// d = g + β v         Nesterov
/// w ← w − η d
/// ```
///
/// Polyak 1964, "Some methods of speeding up the convergence of iteration methods"; Sutskever et
/// al. 2013, "On the importance of initialization and momentum in deep learning", for Nesterov's
/// momentum in this form. As `torch.optim.SGD` without dampening: the step size is outside of the
/// velocity, weight decay inside of it.
#[derive(Clone, Debug)]
pub struct Sgd {
    lr: Scalar,
    momentum: Scalar,
    weight_decay: Scalar,
    nesterov: bool,
}

impl Sgd {
    /// Plain descent with step size `η`.
    #[track_caller]
    pub fn new(lr: impl Rate) -> Self {
        let loc = Loc::caller();
        Self {
            lr: lr.rate(loc),
            momentum: Scalar::constant(0.0, loc),
            weight_decay: Scalar::constant(0.0, loc),
            nesterov: false,
        }
    }

    /// `β`: how much of the velocity a step keeps; 0 unless set.
    #[must_use]
    #[track_caller]
    pub fn momentum(mut self, momentum: impl Rate) -> Self {
        self.momentum = momentum.rate(Loc::caller());
        self
    }

    /// Uses Nesterov's momentum, which adds the velocity to the gradient before the step.
    #[must_use]
    pub fn nesterov(mut self) -> Self {
        self.nesterov = true;
        self
    }

    /// `λ`: weight of `½ ‖w‖²` in the loss; 0 unless set.
    #[must_use]
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: impl Rate) -> Self {
        self.weight_decay = weight_decay.rate(Loc::caller());
        self
    }
}

impl Optimizer for Sgd {
    type State = Params;
    const STATE: &'static [&'static str] = &["v"];

    fn lr(&self) -> Scalar {
        self.lr.clone()
    }

    fn settings(&self) -> Vec<Scalar> {
        let Self {
            lr,
            momentum,
            weight_decay,
            nesterov,
        } = self.clone();
        vec![lr, momentum, weight_decay, f64::from(nesterov).into()]
    }

    fn init(&self, w: &Params) -> Params {
        w.zeros_like()
    }

    fn direction(&self, v: &mut Params, w: &Params, g: &Params) -> Params {
        let g = g + super::decay(&self.weight_decay, w);
        *v = &self.momentum * &*v + &g;
        if self.nesterov {
            g + &self.momentum * &*v
        } else {
            v.clone()
        }
    }
}

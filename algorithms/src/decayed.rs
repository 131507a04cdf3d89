//! Local steps that become shorter with the rounds.

use fedround::prelude::*;

use crate::FedAvg;

/// A local step size of `η / (1 + γ t)` in round `t`, from 0. The "learning rate decay of 0.005" on
/// CIFAR-10 of Liang, Liu et al. 2020, "Think Locally, Act Globally: Federated Learning with Local and
/// Global Representations", <https://arxiv.org/abs/2001.01523>, as `lg-fedavg(decayed)`.
///
/// Departs:
/// - The paper does not say in which way the step size falls; this is the usual one of a number so
///   small.
/// - It is the direction that becomes shorter: with momentum, which begins anew in each round, that is
///   the same, but the base's weight decay stays.
/// - SCAFFOLD's control variates, MimeLite's momentum and EF21's gradients are means of such shorter
///   directions: they keep the scale of the step size of the round that they are from.
#[derive(Hyper, Debug, Clone)]
pub struct Decayed<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `γ`; at 0 the graph equals the base's.
    #[hyper(default = 0.005, range = 0.0..)]
    pub decay: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Decayed<A> {
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        let g = self.base.gradient(k, w, b);
        optim::schedule::inverse_time(1.0, &k.round(), self.decay) * g
    }
}

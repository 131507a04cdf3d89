//! LG-FedAvg: local representations, a small global part.

use fedround::prelude::*;

use crate::FedAvg;

/// What the representations of [`LgFedAvg`] are trained for besides.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LgTask {
    /// Nothing.
    None,
    /// The classes, by a network of the device's own.
    Supervised,
    /// The images.
    Autoencoder,
    /// The order of the images' quadrants.
    Jigsaw,
}

/// A part of a model: what [`LgFedAvg`] averages, or what [`Frozen`](crate::Frozen) keeps.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LgPart {
    /// The last layers.
    Head,
    /// The first layers.
    Features,
}

/// LG-FedAvg. Liang, Liu et al. 2020, "Think Locally, Act Globally: Federated Learning with Local
/// and Global Representations", Algorithm 1, <https://arxiv.org/abs/2001.01523>.
///
/// The first `warm_up` rounds are FedAvg's, over the whole model; then a round hands the model to
/// all devices, and those after it average the global part alone, as in the paper's experiments.
///
/// Departs:
/// - A step descends on the local and the global loss at once; Algorithm 1 takes a step on one and
///   then on the other.
/// - The mean is the base's, over the cohort and weighted by examples; Algorithm 1 sums over all
///   devices, and the authors' code weighs the cohort equally. The squared norm of the gradient, which
///   the paper names too, is the weight of `gradient-weights(lg-fedavg)`.
/// - `warm_up` is a number of rounds, for phases are; in the paper FedAvg ends at a goal accuracy, as
///   it does by `fedround run lg-fedavg --goal 0.975`, within these rounds.
/// - The step size does not fall; that of `lg-fedavg(decayed)` does, as in the paper on CIFAR-10.
///
/// Defaults: no rounds of FedAvg first and no local task; the paper's networks for MNIST average
/// their head. Its local steps are the base's with `momentum = 0.5` and `lr = 0.05`.
#[derive(Hyper, Debug, Clone)]
#[hyper(name = "lg-fedavg")]
pub struct LgFedAvg<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Rounds of FedAvg to begin with.
    #[hyper(default = 0, range = 0..)]
    pub warm_up: usize,
    /// The part that is averaged: `head` in the paper's MNIST network, `features` in the one for
    /// CIFAR-10.
    #[hyper(default = LgPart::Head)]
    pub global: LgPart,
    /// `L_f`: what representations are trained for besides: the classes by a network of the device's
    /// own, the images, or the order of their quadrants.
    #[hyper(default = LgTask::None)]
    pub task: LgTask,
    /// Weight of the local task.
    #[hyper(default = 1.0, range = 0.0..)]
    pub task_weight: f32,
}

/// The parts that stay on a device.
fn local(global: LgPart, task: LgTask) -> Vec<&'static str> {
    let own = match global {
        LgPart::Head => "features",
        LgPart::Features => "head",
    };
    match task {
        LgTask::Supervised => vec![own, "auxiliary"],
        LgTask::Autoencoder => vec![own, "decoder"],
        LgTask::Jigsaw => vec![own, "arranger"],
        LgTask::None => vec![own],
    }
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for LgFedAvg<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.phase("warm_up", self.warm_up);
        if server.phase("hand_over", self.warm_up.min(1)) {
            w.broadcast(&server.all_clients())
                .map(|k, w| k.set_personal(&local(self.global, self.task), &w));
            w
        } else {
            self.base.round(server, w)
        }
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let (own, w) = (local(self.global, self.task), self.personalize(k, w));
        let w = self.base.client_update(k, w);
        if k.phase("warm_up") {
            w
        } else {
            k.set_personal(&own, &w);
            w.replace_parts(&own, &k.global_params())
        }
    }

    /// `L_g(θ_f, θ_g) + L_f(θ_f, θ_a)`.
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let h = |x: &Tensor| k.apply("features", w, x);
        let cut = |x: &Tensor| h(&function("jigsaw", x));
        let task = match self.task {
            LgTask::Supervised => cross_entropy(k.apply("auxiliary", w, &h(&b.x)), &b.y),
            LgTask::Autoencoder => loss("image_mse", (&k.apply("decode", w, &h(&b.x)), &b.x)),
            LgTask::Jigsaw => loss("arrangement", &k.apply("arrange", w, &cut(&b.x))),
            LgTask::None => 0.0.into(),
        };
        self.base.loss(k, w, b) + self.task_weight * task
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        if k.phase("warm_up") {
            w
        } else {
            k.personal(&local(self.global, self.task), &w)
        }
    }
}

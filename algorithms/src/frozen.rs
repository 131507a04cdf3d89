//! A part of the model that does not train at first.

use fedround::prelude::*;

use crate::{FedAvg, LgPart};

/// Rounds in which a part of the model stays as it is. Liang, Liu et al. 2020, "Think Locally, Act
/// Globally: Federated Learning with Local and Global Representations", section 3.2,
/// <https://arxiv.org/abs/2001.01523>: a new device first learns its representation, and then tunes
/// the global part with it.
///
/// In the paper `lg-fedavg(frozen)`: the rounds come after those of warm-up, and devices train what is
/// their own. What does not train does not go up.
///
/// Departs:
/// - The paper does not say for how long, nor by which loss; here it is the base's, through the frozen
///   part.
/// - Weight decay is no direction: with a base that has some, the part shrinks in local training, and
///   is put back before it goes up.
#[derive(Hyper, Debug, Clone)]
pub struct Frozen<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Rounds in which the part stays as it is, the first ones of the base.
    #[hyper(default = 10, range = 0..)]
    pub frozen: usize,
    /// The part: of LG-FedAvg what is `global` there.
    #[hyper(default = LgPart::Head)]
    pub part: LgPart,
}

fn only(part: LgPart) -> [&'static str; 1] {
    [part.word()]
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Frozen<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        server.phase("frozen", self.frozen);
        self.base.round(server, w)
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        if k.phase("frozen") {
            w.replace_parts(&only(self.part), &k.global_params())
        } else {
            w
        }
    }

    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        let g = self.base.gradient(k, w, b);
        if k.phase("frozen") {
            g.replace_parts(&only(self.part), &w.zeros_like())
        } else {
            g
        }
    }
}

//! Solo: training without exchange.

use fedround::optim::Sgd;
use fedround::prelude::*;

/// Every client trains alone, from the same initial model, and nothing is exchanged: the lower bound
/// of comparisons, such as that of Zhao et al. 2018, "Federated Learning with Non-IID Data",
/// <https://arxiv.org/abs/1806.00582>.
#[derive(Hyper, Debug, Clone)]
pub struct Solo {
    /// Local epochs in a round, after which clients are evaluated.
    #[hyper(default = 1, range = 1..)]
    pub epochs: usize,
    /// Examples in a batch.
    #[hyper(default = 10, range = 1..)]
    pub batch: usize,
    /// Step size.
    #[hyper(default = 0.1, range = 0.0..=1000000.0)]
    pub lr: f32,
    /// Momentum, from zero in each round.
    #[hyper(default = 0.0, range = 0.0..1.0)]
    pub momentum: f32,
    /// Weight decay.
    #[hyper(default = 0.0, range = 0.0..)]
    pub weight_decay: f32,
}

#[federated]
impl Algorithm for Solo {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients());
        w_k.map(|k, w| self.client_update(k, w));
        w
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut own = self.personalize(k, w.clone());
        let sgd = Sgd::new(self.lr).momentum(self.momentum);
        let mut opt = sgd.weight_decay(self.weight_decay).start(&own);
        for b in k.batches(self.epochs, self.batch) {
            let g = self.gradient(k, &own, &b);
            opt.step(&mut own, g);
        }
        k.set_state("own", &own);
        w
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        k.state_or("own", &w)
    }
}

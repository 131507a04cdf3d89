//! Centralised training: all examples in one place.

use fedround::optim::Sgd;
use fedround::prelude::*;

/// SGD on the examples of all clients together, as if there were no federation: the upper bound of
/// comparisons, such as that of Zhao et al. 2018, "Federated Learning with Non-IID Data",
/// <https://arxiv.org/abs/1806.00582>.
///
/// An experiment gives client 0 the examples of all clients, and tests the model on every client's own
/// test examples. The other clients take no part.
#[derive(Hyper, Debug, Clone)]
#[hyper(centralized = true)]
pub struct Centralized {
    /// Epochs in a round.
    #[hyper(default = 1, range = 1..)]
    pub epochs: usize,
    /// Examples in a batch.
    #[hyper(default = 64, range = 1..)]
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
impl Algorithm for Centralized {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let one = w.broadcast(&server.clients(0, 1));
        one.map(|k, w| self.client_update(k, w)).sum()
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        let sgd = Sgd::new(self.lr).momentum(self.momentum);
        let mut opt = sgd.weight_decay(self.weight_decay).start(&w);
        for b in k.batches(self.epochs, self.batch) {
            let g = self.gradient(k, &w, &b);
            opt.step(&mut w, g);
        }
        w
    }
}

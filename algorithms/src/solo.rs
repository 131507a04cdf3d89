//! Solo: training without exchange.

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
        for b in k.batches(self.epochs, self.batch) {
            own -= self.lr * self.gradient(k, &own, &b);
        }
        k.set_state("own", &own);
        w
    }

    fn personalize(&self, k: &ClientCx, w: Params) -> Params {
        k.state_or("own", &w)
    }
}

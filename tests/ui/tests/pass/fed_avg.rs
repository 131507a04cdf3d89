//! FedAvg as users write it, without a warning; its entry and its graph.
#![deny(warnings)]

use fedround::prelude::*;

/// FedAvg. McMahan et al. 2017, Algorithm 1, <https://arxiv.org/abs/1602.05629>.
#[derive(Hyper, Debug, Clone)]
pub struct FedAvg {
    /// `C`: fraction of clients sampled per round.
    #[hyper(default = 0.1, range = 0.0..=1.0)]
    pub fraction: f32,
    /// `E`: local epochs.
    #[hyper(default = 5, range = 1..)]
    pub epochs: usize,
    /// `B`: local batch size.
    #[hyper(default = 10, range = 1..)]
    pub batch: usize,
    /// `η`: local step size.
    #[hyper(default = 0.1, range = 0.0..)]
    pub lr: f32,
}

#[federated]
impl Algorithm for FedAvg {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.fraction);
        let w_k = w.broadcast(&s_t).map(|k, w| self.client_update(k, w));
        self.aggregate(server, w_k)
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        for b in k.batches(self.epochs, self.batch) {
            w -= self.lr * self.gradient(k, &w, &b);
        }
        w
    }

    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.weighted_mean(|k| k.num_examples())
    }

    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        grad(w, |w| self.loss(k, w, b) + self.regularizer(k, w))
    }

    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        cross_entropy(k.forward(w, &b.x), &b.y)
    }

    fn regularizer(&self, _: &ClientCx, _: &Params) -> Scalar {
        0.0.into()
    }
}

#[test]
fn compiles() {
    use fedround::{Registered, Registry};

    let alg = FedAvg::default();
    assert_eq!((alg.name(), alg.lr, alg.epochs), ("fedavg", 0.1, 5));
    assert!(fedround::validate(&alg).is_ok());
    assert_eq!(FedAvg::entry().name, "fedavg");
    assert!(FedAvg::entry().doc.starts_with("FedAvg. McMahan"));

    let registry = Registry::new().with_type::<FedAvg>();
    assert!(registry.parse("fedavg").is_ok());
    assert!(fedround::stage(&alg).is_ok());
}

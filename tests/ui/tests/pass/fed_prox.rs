//! FedProx over FedAvg, as a type and by name.
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

/// FedProx. Li et al. 2020, Algorithm 2, <https://arxiv.org/abs/1812.06127>.
#[derive(Hyper, Debug, Clone)]
pub struct FedProx<A = FedAvg> {
    /// The algorithm the proximal term is added to.
    pub base: A,
    /// `μ`: proximal weight.
    #[hyper(default = 0.1, range = 0.0..)]
    pub mu: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for FedProx<A> {
    /// `h_k(w; wᵗ) = F_k(w) + μ/2 ‖w − wᵗ‖²`, Eq. (2).
    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        self.base.regularizer(k, w) + 0.5 * self.mu * (w - k.global_params()).sq_norm()
    }
}

#[test]
fn compiles() {
    use fedround::{Registered, Registry};

    let mut alg: FedProx = FedProx::default();
    assert!(fedround::set(&mut alg, "mu", fedround::__private::HyperValue::Float(1.0)).is_ok());
    assert!(fedround::set(&mut alg, "mu", fedround::__private::HyperValue::Float(-1.0)).is_err());
    assert!(fedround::set(&mut alg, "lr", fedround::__private::HyperValue::Int(1)).is_ok());
    assert_eq!((alg.mu, alg.base.lr), (1.0, 1.0));
    assert_eq!(
        <FedProx<BoxedAlgorithm>>::entry().default_base,
        Some("fedavg")
    );

    let registry = Registry::new()
        .with_type::<FedAvg>()
        .with_type::<FedProx<BoxedAlgorithm>>();
    for spec in ["fedprox", "fedprox(fedavg)", "fedprox(fedprox(fedavg))"] {
        let alg = registry.parse(spec).unwrap();
        assert!(fedround::stage(&*alg).is_ok());
    }
}

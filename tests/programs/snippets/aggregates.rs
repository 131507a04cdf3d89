//! The weights and losses of docs/specs.md that clients compute.

use fedround::algorithms::FedAvg;
use fedround::prelude::*;

#[derive(Hyper, Debug, Clone)]
pub struct ByLoss<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `q`.
    #[hyper(default = 1.0, range = 0.0..)]
    pub q: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for ByLoss<A> {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        let a_k = w_k.map(|k, _| {
            let b = k.batch(1000);
            self.loss(k, &k.global_params(), &b).pow(self.q)
        });
        w_k.weighted_mean_by(&a_k)
    }
}

#[derive(Hyper, Debug, Clone)]
pub struct Balanced<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Balanced<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let counts = k.label_counts().clamp(1e-8, 1e8);
        let z = function("shift_columns", (&k.forward(w, &b.x), &counts.ln()));
        cross_entropy(z, &b.y)
    }
}

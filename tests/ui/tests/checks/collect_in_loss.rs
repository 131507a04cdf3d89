//! A loss is of rows that are there: collecting them is a loop.
use fedround::prelude::*;

#[derive(Hyper, Debug, Clone)]
pub struct Spec {}

#[federated]
impl Algorithm for Spec {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.sample(0.1));
        w_k.map(|k, w| self.client_update(k, w)).mean()
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        grad(&w, |w| {
            let (z, y) = k.collect(64, |b| (k.forward(w, &b.x), b.y.clone())); //~ expected a loss of tensors, found `k.collect` in it; collect rows before the gradient
            cross_entropy(z, &y)
        })
    }
}

//! `select` is between numbers, `choose` between parameters.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    mu: f32,
}

#[federated]
impl Algorithm for Mine {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let far = (&w - k.global_params()).sq_norm() - self.mu;
        far.select(k.global_params(), w)
    }
}

fn main() {}

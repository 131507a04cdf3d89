//! Gradients are with respect to parameters or tensors.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.5)]
    alpha: f32,
}

#[federated]
impl Algorithm for Mine {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let by_alpha = grad(&self.alpha, |a| (a * k.global_params()).sq_norm());
        by_alpha * w
    }
}

fn main() {}

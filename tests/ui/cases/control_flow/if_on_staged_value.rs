//! What a loss will be is not known when the graph is built.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        let loss = w.sq_norm();
        if loss > 1.0 {
            w = k.global_params();
        }
        w
    }
}

fn main() {}

//! Only batches and ranges are loops of the graph.
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
        for x in [0.1, 0.2] {
            w -= x * k.global_params();
        }
        w
    }
}

fn main() {}

//! A loop counts its turns from 0, and they have no number.
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
        for i in 1..=5 {
            w -= k.global_params();
        }
        w
    }
}

fn main() {}

//! A loop has a number of turns that is known beforehand.
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
        while true {
            w -= k.global_params();
        }
        w
    }
}

fn main() {}

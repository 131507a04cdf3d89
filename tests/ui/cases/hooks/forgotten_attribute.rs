//! Without the attribute a loop over batches is no loop, and `define` is missing.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

impl Algorithm for Mine {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        for b in k.batches(1, 10) {
            w -= k.global_params();
        }
        w
    }
}

fn main() {}

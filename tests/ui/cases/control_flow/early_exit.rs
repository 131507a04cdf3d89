//! A body runs to its end.
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
        for b in k.batches(1, 10) {
            w -= self.gradient(k, &w, &b);
            break;
        }
        return w;
    }
}

fn main() {}

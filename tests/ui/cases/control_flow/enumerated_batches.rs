//! A loop of the graph counts its steps itself.
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
        for (i, b) in k.batches(1, 10).enumerate() {
            w -= self.lr / i * self.gradient(k, &w, &b);
        }
        w
    }
}

fn main() {}

//! What a method changes is not carried, unless it is lent a variable: rustc says so.
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
        let mut seen = Vec::new();
        for b in k.batches(1, 10) {
            w -= self.lr * self.gradient(k, &w, &b);
            seen.push(w.clone());
        }
        w
    }
}

fn main() {}

//! A number that a loop changes is one of the graph from the start.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        let mut total = 0.0;
        for b in k.batches(1, 10) {
            total += k.loss(w, &b);
        }
        self.lr * total
    }
}

fn main() {}

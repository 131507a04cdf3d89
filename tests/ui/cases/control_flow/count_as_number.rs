//! A count has no arithmetic.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 1, range = 1..)]
    epochs: usize,
}

#[federated]
impl Algorithm for Mine {
    fn client_update(&self, _: &ClientCx, w: Params) -> Params {
        w / (self.epochs as f64)
    }
}

fn main() {}

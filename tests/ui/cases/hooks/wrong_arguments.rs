//! A hook's arguments are rustc's to check, at the user's own tokens.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        grad(w, |w| self.loss(k, b, w) + self.regularizer(k))
    }
}

fn main() {}

//! A misspelt call of a slot.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn direction(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        grad(w, |w| self.dataloss(k, w, b))
    }
}

fn main() {}

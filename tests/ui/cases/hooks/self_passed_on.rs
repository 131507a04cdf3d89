//! `self` is its hooks and its hyper-parameters.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

fn helper(mine: &Mine, w: &Params) -> Scalar {
    f64::from(mine.lr) * w.sq_norm()
}

#[federated]
impl Algorithm for Mine {
    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        helper(self, w)
    }
}

fn main() {}

//! Receiver, number of parameters, and a hook twice: all at once.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn regularizer(&mut self, k: &ClientCx, w: &Params) -> Scalar {
        w.sq_norm()
    }

    fn loss(&self, k: &ClientCx, w: &Params) -> Scalar {
        w.sq_norm()
    }

    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        0.0.into()
    }
}

fn main() {}

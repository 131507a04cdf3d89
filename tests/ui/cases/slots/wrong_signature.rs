//! Receiver, number of parameters, and a slot twice: all at once.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn penalty(&mut self, k: &ClientCx, w: &Params) -> Scalar {
        w.sq_norm()
    }

    fn data_loss(&self, k: &ClientCx, w: &Params) -> Scalar {
        w.sq_norm()
    }

    fn penalty(&self, k: &ClientCx, w: &Params) -> Scalar {
        0.0.into()
    }
}

fn main() {}

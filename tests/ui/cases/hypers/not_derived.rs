//! A spec needs its hyper-parameters.
use fedround::prelude::*;

struct Mine;

#[federated]
impl Algorithm for Mine {
    fn regularizer(&self, _: &ClientCx, w: &Params) -> Scalar {
        w.sq_norm()
    }
}

fn main() {}

//! The base is reached through its hooks.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine<A> {
    base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Mine<A> {
    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        self.base.regulariser(k, w) + self.base.mu * w.sq_norm()
    }
}

fn main() {}

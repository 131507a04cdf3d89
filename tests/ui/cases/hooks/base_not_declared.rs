//! `self.base` is the inner algorithm only if the attribute says so.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine<A> {
    base: A,
    #[hyper(default = 0.1)]
    mu: f32,
}

#[federated]
impl<A: Algorithm> Algorithm for Mine<A> {
    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        self.base.regularizer(k, w) + self.mu * w.sq_norm()
    }
}

fn main() {}

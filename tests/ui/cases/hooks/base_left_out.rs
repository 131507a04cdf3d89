//! A type parameter is the base, and the attribute names its field.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine<A> {
    base: A,
    #[hyper(default = 0.1)]
    mu: f32,
}

#[federated]
impl<A: Algorithm> Algorithm for Mine<A> {
    fn regularizer(&self, _: &ClientCx, w: &Params) -> Scalar {
        self.mu * w.sq_norm()
    }
}

fn main() {}

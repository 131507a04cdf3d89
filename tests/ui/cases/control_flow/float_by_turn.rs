//! The number of a turn is a `usize` of Rust: it meets values of the graph, not other plain numbers.
use fedround::prelude::*;

#[derive(Hyper)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
}

#[federated]
impl Algorithm for Mine {
    fn regularizer(&self, _: &ClientCx, w: &Params) -> Scalar {
        let mut sum = Scalar::from(0.0);
        for j in 0..3 {
            sum += j * w.sq_norm() / (j + 1) * self.lr;
            sum += 0.5 * j * w.sq_norm();
        }
        sum
    }
}

fn main() {}

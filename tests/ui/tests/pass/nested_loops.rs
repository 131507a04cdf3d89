//! Loops in loops: what the inner one assigns is carried by both; shadowing, tuples, closures and
//! an `if` on a hyper-parameter inside; no warning from the expansion.
#![deny(warnings)]

use fedround::prelude::*;

#[derive(Hyper, Debug, Clone)]
pub struct Nested {
    #[hyper(default = 2, range = 1..)]
    pub rounds: usize,
    #[hyper(default = 0.1, range = 0.0..)]
    pub lr: f32,
    #[hyper(default = 0.9, range = 0.0..1.0)]
    pub momentum: f32,
    #[hyper(default = "sq_norm")]
    pub norm: String,
}

#[federated]
impl Algorithm for Nested {
    fn client_update(&self, k: &ClientCx, mut w: Params) -> Params {
        let mut sum = w.clone();
        let mut last = w.clone();
        for _ in 0..self.rounds {
            let mut step = self.lr * &w;
            for b in k.batches(1, 10) {
                step += self.gradient(k, &w, &b);
                if self.momentum > 0.0 {
                    w -= self.momentum * &step;
                }
                let w = self.lr * &step;
                (sum, _) = (&sum + w, 0.0);
                last = self.gradient(k, &sum, &b);
            }
            w -= step;
        }
        for _ in 0..3 {
            w = 0.5 * w;
        }
        w + sum + last
    }

    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        grad(w, |w| {
            let mut loss = self.loss(k, w, b);
            for _ in 0..2 {
                loss = 0.5 * loss;
            }
            loss
        })
    }

    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        match self.norm.as_str() {
            "sq_norm" => w.sq_norm(),
            _ => w.dot(&k.global_params()),
        }
    }
}

#[test]
fn compiles() {
    assert!(fedround::stage(&Nested::default()).is_ok());
}

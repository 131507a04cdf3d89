//! Computed numbers of turns, numbers of turns as values, and sums of lists.
#![deny(warnings)]

use fedround::prelude::*;

/// As many steps as there are batches, at most a few.
#[derive(Hyper, Debug, Clone)]
pub struct Masked {
    /// The most steps.
    #[hyper(default = 3, range = 1..)]
    pub most: usize,
    /// Step size.
    #[hyper(default = 0.1, range = 0.0..)]
    pub lr: f32,
}

#[federated]
impl Algorithm for Masked {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        let n = k.num_examples() / 10.0;
        let mut i = Scalar::from(0.0);
        for _ in 0..self.most {
            let next = &w - self.lr * self.gradient(k, &w, &k.batch(10));
            w = (&n - &i).choose(&next, &w);
            i += 1.0;
        }
        let all = list(self.most, |j| &w / (1.0 + Scalar::from(Index::from(j))));
        let mut sum = w.zeros_like();
        for j in 0..self.most {
            sum += &all[j];
        }
        sum
    }
}

#[test]
fn compiles() {
    fedround::stage(&Masked { most: 3, lr: 0.1 }).unwrap();
}

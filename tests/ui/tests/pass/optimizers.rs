//! Optimizers in loops and between rounds, without a warning.
#![deny(warnings)]

use fedround::optim::{Adam, Lbfgs, Sgd, schedule};
use fedround::prelude::*;

#[derive(Hyper, Debug, Clone)]
struct Mine {
    #[hyper(default = 0.1)]
    lr: f32,
    #[hyper(default = 2)]
    epochs: usize,
}

#[federated]
impl Algorithm for Mine {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut w = w;
        let mut opt = Adam::new(self.lr).resume(server, "adam", &w);
        let w_k = w
            .broadcast(&server.all_clients())
            .map(|k, w| self.client_update(k, w));
        let g = &w - w_k.mean();
        opt.step(&mut w, g.clip_norm(10.0));
        opt.keep(server, "adam");
        w
    }

    /// The outer loop carries what the inner one steps; the loop of turns has its own optimizer.
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        let lr = schedule::warmup(self.lr, &k.round(), 5.0);
        let mut slow = Sgd::new(1.0).momentum(0.5).start(&w);
        for _ in 0..self.epochs {
            let start = w.clone();
            let mut fast = Sgd::new(&lr).momentum(0.9).nesterov().start(&w);
            for b in k.batches(1, 10) {
                let g = self.gradient(k, &w, &b);
                fast.step(&mut w, g);
            }
            let g = &start - &w;
            slow.step(&mut w, g);
        }
        for b in k.batches(1, 100) {
            w = Lbfgs::new(3)
                .armijo(4)
                .minimize(&w, 2, |w| self.loss(k, w, &b));
        }
        w
    }

    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        grad(w, |w| self.loss(k, w, b))
    }

    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        cross_entropy(k.forward(w, &b.x), &b.y)
    }
}

#[test]
fn compiles() {
    let module = fedround::stage(&Mine::default()).unwrap();
    assert_eq!(module.funcs.len(), 4);
}

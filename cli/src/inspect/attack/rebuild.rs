//! The attackers' program: a network that is trained to rebuild images.

use fedround_dsl::optim::Adam;
use fedround_dsl::prelude::*;

/// An attacker's network that is to give the column `target` of the inputs.
#[derive(Hyper, Debug, Clone)]
pub(super) struct Rebuild {
    /// Passes over the attacker's pairs in a round.
    #[hyper(default = 5, range = 1..)]
    pub epochs: usize,
    /// Pairs in a step.
    #[hyper(default = 32, range = 1..)]
    pub batch: usize,
    /// Step size, of Adam.
    #[hyper(default = 0.002, range = 0.0..)]
    pub lr: f32,
}

#[federated]
impl Algorithm for Rebuild {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let attacker = server.clients(0, 1);
        let w_k = w.broadcast(&attacker).map(|k, w| {
            let mut w = w;
            let mut opt = Adam::new(self.lr).start(&w);
            for b in k.batches(self.epochs, self.batch) {
                let x = b.tensor("target");
                let of = |w: &Params| loss("image_mse", (&k.apply("generate", w, &b.x), &x));
                let g = grad(&w, of);
                opt.step(&mut w, g);
            }
            w
        });
        w_k.sum()
    }
}

//! Small programs that run on a trained model's parameters.

use fedround_dsl::optim::Adam;
use fedround_dsl::prelude::*;

/// The column of protected attributes, which are 0 or 1.
pub const PROTECTED: &str = "protected";

/// Every client keeps, as its state `outputs.z`, what a function of the model gives for all of its
/// examples, in their order.
#[derive(Hyper, Debug, Clone)]
pub(super) struct Outputs {
    /// The function: the model's logits, or the output of a network beside it.
    #[hyper(default = "forward", choices = ["forward", "generate", "expose"])]
    pub function: String,
}

#[federated]
impl Algorithm for Outputs {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        w.broadcast(&server.all_clients()).map(|k, w| {
            let z = k.collect(250, |b| match self.function.as_str() {
                "forward" => k.forward(&w, &b.x),
                "generate" => k.apply("generate", &w, &b.x),
                _ => k.apply("expose", &w, &k.apply("features", &w, &b.x)),
            });
            k.set_state("z", &z);
        });
        w
    }
}

/// The state of [`Outputs`].
pub(super) const OUTPUTS: &str = "outputs.z";

/// Fits a new adversary to representations that stay as they are, on all clients' examples, which
/// are one client's here. Liang, Liu et al. 2020, section 3.4.
#[derive(Hyper, Debug, Clone)]
pub(super) struct Expose {
    /// Passes over the examples in a round.
    #[hyper(default = 5, range = 1..)]
    pub epochs: usize,
    /// Examples in a step.
    #[hyper(default = 64, range = 1..)]
    pub batch: usize,
    /// Step size, of Adam.
    #[hyper(default = 0.001, range = 0.0..)]
    pub lr: f32,
}

#[federated]
impl Algorithm for Expose {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.clients(0, 1)).map(|k, w| {
            let mut w = w;
            let mut opt = Adam::new(self.lr).start(&w);
            for b in k.batches(self.epochs, self.batch) {
                let h = k.apply("features", &k.global_params(), &b.x);
                let of = |w: &Params| {
                    let p = k.apply("expose", w, &h);
                    loss("attributes", (&p, &b.tensor(PROTECTED)))
                };
                let g = grad(&w, of);
                opt.step(&mut w, g);
            }
            w
        });
        w_k.sum()
    }
}

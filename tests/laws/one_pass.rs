//! Several functions of the same inputs are read from one forward pass.

use fedround::prelude::*;

use crate::common::{dealt, digits, leaves, run};
use crate::training::{MEAN, VAR, moments, near, start};

/// One step on a batch, with a loss that reads several functions of the model.
#[derive(Hyper, Debug, Clone)]
pub struct Several {
    /// The functions beside the logits, in this order.
    #[hyper(default = "", choices = ["", "represent", "plain", "represent, plain", "plain, represent"])]
    pub of: String,
    /// Whether the logits of other images come between.
    #[hyper(default = false)]
    pub others: bool,
}

#[federated]
impl Algorithm for Several {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients()).map(|k, w| {
            let mut w = w;
            for b in k.batches(1, 8) {
                let g = grad(&w, |w| {
                    let mut loss = cross_entropy(k.forward(w, &b.x), &b.y);
                    if self.others {
                        loss += cross_entropy(k.forward(w, &(0.5 * &b.x)), &b.y);
                    }
                    if self.of.starts_with("plain") {
                        loss += cross_entropy(k.apply("plain", w, &b.x), &b.y);
                    }
                    if self.of.contains("represent") {
                        loss += cross_entropy(k.apply("represent", w, &b.x), &b.y);
                    }
                    if self.of.ends_with(", plain") {
                        loss += cross_entropy(k.apply("plain", w, &b.x), &b.y);
                    }
                    loss
                });
                w -= 0.1 * g;
            }
            w
        });
        w_k.mean()
    }
}

#[test]
fn functions_of_the_same_inputs_move_statistics_once() {
    let data = digits(8, 1).train;
    let (mean, var) = moments(&data, &(0..8).collect::<Vec<_>>());
    let after = |of: &str, others: bool| {
        let of = of.to_owned();
        let federation = dealt(&data, vec![(0..8).collect()], 3);
        let mut simulation = start(&Several { of, others }, federation);
        run(&mut simulation, 1);
        let leaves = leaves(&simulation);
        (leaves[MEAN][0], leaves[VAR][0])
    };
    let once = (0.1 * mean, 0.9 + 0.1 * var);
    for of in [
        "",
        "represent",
        "plain",
        "represent, plain",
        "plain, represent",
    ] {
        let (m, v) = after(of, false);
        near(m, once.0);
        near(v, once.1);
    }
    // Other inputs are another pass, whose update stays: half as bright, so the variance is a quarter.
    for of in ["", "represent", "plain, represent"] {
        let (m, v) = after(of, true);
        near(m, 0.9 * once.0 + 0.05 * mean);
        near(v, 0.9 * once.1 + 0.025 * var);
    }
}

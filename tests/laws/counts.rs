//! Counts in a spec behave as numbers.

use fedround::algorithms::FedAvg;
use fedround::prelude::*;

use crate::common::{GREY, assert_close, bits, compile, digits, federation, trained};

/// FedAvg with a direction cut in equal pieces.
#[derive(Hyper, Debug, Clone)]
pub struct Pieces<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// How many.
    #[hyper(default = 4, range = 1..)]
    pub pieces: usize,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Pieces<A> {
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        self.base.gradient(k, w, b) * self.pieces / (self.pieces * self.pieces)
    }
}

fn base(lr: f32) -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 10,
        lr,
        ..FedAvg::default()
    }
}

fn pieces(pieces: usize) -> Pieces {
    let base = base(0.2);
    Pieces { base, pieces }
}

#[test]
fn a_step_in_pieces_is_a_smaller_step() {
    let data = digits(60, 1).train;
    let after = |algorithm: &dyn Algorithm| {
        let federation = federation(&data, "iid", 3, 3);
        bits(&trained(algorithm, "logistic", federation, 2))
    };
    // Powers of two round nothing.
    assert_eq!(after(&pieces(4)), after(&base(0.05)));
    assert_eq!(after(&pieces(1)), after(&base(0.2)));
    assert_ne!(after(&pieces(2)), after(&pieces(4)));
}

/// A gradient in three turns: turn `j` adds `j / 6` of it, and `j` to a factor of the sum.
#[derive(Hyper, Debug, Clone)]
pub struct Turns<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Whether the parts are written by hand.
    #[hyper(default = false)]
    pub by_hand: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Turns<A> {
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        let g = self.base.gradient(k, w, b);
        let mut sum = w.zeros_like();
        let mut weight = Scalar::from(0.0);
        if self.by_hand {
            sum += 0.0 * &g / 6.0 + 1.0 * &g / 6.0 + &g * 2.0 / 6.0;
            weight += 3.0;
        } else {
            for j in 0..3 {
                sum += j * &g / 6.0;
                weight += 2 * k.num_clients() * j / (k.num_clients() + k.num_clients());
            }
        }
        sum * weight
    }
}

#[test]
fn the_number_of_a_turn_is_a_number() {
    let data = digits(60, 1).train;
    let after = |by_hand| {
        let base = base(0.1);
        let federation = federation(&data, "iid", 3, 3);
        trained(&Turns { base, by_hand }, "logistic", federation, 2)
    };
    assert_close(&after(false), &after(true), 1e-6);
    let start = trained(&base(0.1), "logistic", federation(&data, "iid", 3, 3), 0);
    assert_ne!(bits(&after(false)), bits(&start));
}

/// Another count is another input of the same graph.
#[test]
fn a_count_is_a_hyper_parameter_of_the_step() {
    let text = |n| {
        let program = compile(&pieces(n), "logistic", GREY);
        program.graphs(10).unwrap()[0].text("step")
    };
    assert!(text(4).contains("pieces"), "{}", text(4));
    assert_eq!(text(4), text(3));
}

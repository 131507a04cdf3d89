//! Loops and reductions written by hand against the ops that do the same.

use fedround::algorithms::FedAvg;
use fedround::prelude::*;

use crate::common::{assert_close, bits, dealt, digits, federation, run, simulation};
use crate::common::{trained, weights};

/// Halves the parameters a number of times; trains nothing.
#[derive(Hyper, Debug, Clone)]
pub struct Halve {
    /// How often.
    #[hyper(default = 3)]
    pub times: usize,
}

#[federated]
impl Algorithm for Halve {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let everyone = server.all_clients();
        let w_k = w.broadcast(&everyone).map(|k, w| self.client_update(k, w));
        w_k.mean()
    }

    fn client_update(&self, _: &ClientCx, w: Params) -> Params {
        let mut w = w;
        for _ in 0..self.times {
            w -= 0.5 * &w;
        }
        w
    }
}

#[test]
fn a_range_repeats() {
    let data = digits(10, 10).train;
    for times in [0, 1, 3] {
        let federation = dealt(&data, vec![vec![0], vec![1]], 1);
        let mut simulation = simulation(&Halve { times }, "logistic", federation);
        let start = weights(&simulation);
        run(&mut simulation, 1);
        let expected: Vec<f32> = start
            .iter()
            .map(|w| w * 0.5f32.powi(times as i32))
            .collect();
        assert_eq!(
            bits(&weights(&simulation)),
            bits(&expected),
            "{times} times"
        );
    }
}

/// FedAvg with its epochs as a loop around its batches.
#[derive(Hyper, Debug, Clone)]
pub struct Passes<A = FedAvg> {
    /// What gives the direction.
    pub base: A,
    /// Passes over the data.
    #[hyper(default = 2)]
    pub passes: usize,
    /// Step size.
    #[hyper(default = 0.1)]
    pub step: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Passes<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        for _ in 0..self.passes {
            for b in k.batches(1, 100) {
                w -= self.step * self.gradient(k, &w, &b);
            }
        }
        w
    }
}

#[test]
fn loops_nest() {
    // Full batches: that every pass has the first epoch's order does not matter.
    let data = digits(40, 10).train;
    let deal = || federation(&data, "iid", 2, 1);
    let base = FedAvg {
        fraction: 1.0,
        epochs: 3,
        batch: 100,
        lr: 0.1,
        ..FedAvg::default()
    };
    let nested = Passes {
        base: base.clone(),
        passes: 3,
        step: 0.1,
    };
    let expected = trained(&base, "2nn", deal(), 2);
    assert_close(&trained(&nested, "2nn", deal(), 2), &expected, 1e-6);
}

/// The weighted mean as two sums, and the clients' number as a sum of ones.
#[derive(Hyper, Debug, Clone)]
pub struct TwoSums<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for TwoSums<A> {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        let (weighted, n) = w_k.map(|k, w| (k.num_examples() * w, k.num_examples()));
        1.0 / n.sum() * weighted.sum()
    }
}

/// The mean as a sum divided by the number of clients.
#[derive(Hyper, Debug, Clone)]
pub struct PlainMean<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// By hand or by the op.
    #[hyper(default = false)]
    pub by_hand: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for PlainMean<A> {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        if self.by_hand {
            let (w_k, one) = w_k.map(|_, w| (w, 1.0.into()));
            1.0 / one.sum() * w_k.sum()
        } else {
            w_k.mean()
        }
    }
}

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 10,
        lr: 0.1,
        ..FedAvg::default()
    }
}

#[test]
fn a_weighted_mean_is_two_sums() {
    let data = digits(200, 10).train;
    let deal = || federation(&data, "dirichlet:0.5", 5, 1);
    let expected = trained(&base(), "logistic", deal(), 2);
    let by_hand = trained(&TwoSums { base: base() }, "logistic", deal(), 2);
    assert_close(&by_hand, &expected, 1e-5);
    let plain = trained(
        &PlainMean {
            base: base(),
            by_hand: false,
        },
        "logistic",
        deal(),
        2,
    );
    assert!(
        crate::common::distance(&plain, &expected) > 1e-4,
        "sizes differ"
    );
}

#[test]
fn a_mean_is_a_sum_over_the_number_of_clients() {
    let data = digits(200, 10).train;
    let after = |by_hand: bool| {
        let algorithm = PlainMean {
            base: base(),
            by_hand,
        };
        trained(
            &algorithm,
            "logistic",
            federation(&data, "dirichlet:0.5", 5, 1),
            2,
        )
    };
    assert_close(&after(true), &after(false), 1e-5);
}

/// Two of the base's rounds in one.
#[derive(Hyper, Debug, Clone)]
pub struct Twice<A = FedAvg> {
    /// What makes a round.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Twice<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let mut w = w;
        for _ in 0..2 {
            w = self.base.round(server, w);
        }
        w
    }
}

#[test]
fn the_server_repeats() {
    let data = digits(60, 10).train;
    let full = FedAvg {
        batch: 100,
        ..base()
    };
    let deal = || federation(&data, "iid", 3, 1);
    let expected = trained(&full, "logistic", deal(), 2);
    let twice = trained(&Twice { base: full.clone() }, "logistic", deal(), 1);
    assert_close(&twice, &expected, 1e-6);
}

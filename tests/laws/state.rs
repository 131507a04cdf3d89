//! State that the server or a client keeps between rounds.

use fedround::algorithms::FedAvg;
use fedround::prelude::*;
use fedround::simulation::sampling::cohort;

use crate::common::{GREY, simulation, trained, weights};
use crate::common::{assert_close, bits, compile, dealt, digits, federation, leaves, run};

/// Server momentum: `v ← β v + (w' − w)`, `w ← w + v`, where `w'` is the base's round.
#[derive(Hyper, Debug, Clone)]
pub struct Momentum<A = FedAvg> {
    /// What makes a round.
    pub base: A,
    /// `β`: how much of the last move is kept.
    #[hyper(default = 0.5, range = 0.0..1.0)]
    pub beta: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Momentum<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let next = self.base.round(server, w.clone());
        let v = self.beta * server.state("v") + (next - &w);
        server.set_state("v", &v);
        w + v
    }
}

/// Trains nothing: a client adds what it receives to its sum and returns the sum.
#[derive(Hyper, Debug, Clone)]
pub struct Sums {
    /// Fraction of the clients in a round.
    #[hyper(default = 1.0, range = 0.0..=1.0)]
    pub fraction: f32,
}

#[federated]
impl Algorithm for Sums {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let s_t = server.sample(self.fraction);
        let w_k = w.broadcast(&s_t).map(|k, w| self.client_update(k, w));
        self.aggregate(server, w_k)
    }

    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let c = k.state("c") + w;
        k.set_state("c", &c);
        c
    }

    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.mean()
    }
}

/// A client's drift over all its rounds: `c ← c + (w − wᵗ)`; it returns `wᵗ + c`.
#[derive(Hyper, Debug, Clone)]
pub struct Drift<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Drift<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        let c = k.state("c") + (w - k.global_params());
        k.set_state("c", &c);
        k.global_params() + c
    }
}

pub fn base() -> FedAvg {
    FedAvg {
        fraction: 0.5,
        epochs: 1,
        batch: 10,
        lr: 0.1,
        ..FedAvg::default()
    }
}

#[test]
fn server_momentum_follows_its_equation() {
    let data = digits(200, 10).train;
    let deal = || federation(&data, "iid", 4, 9);
    let momentum = Momentum {
        base: base(),
        beta: 0.5,
    };
    let mut with = simulation(&momentum, "logistic", deal());
    // The base, moved to where momentum is before each round, gives that round's change.
    let mut plain = simulation(&base(), "logistic", deal());
    let mut v = vec![0.0f32; weights(&with).len()];
    for _ in 0..4 {
        let w = weights(&with);
        assert!(plain.set_parameters(leaves(&with)));
        run(&mut plain, 1);
        for (v, (next, w)) in v.iter_mut().zip(weights(&plain).iter().zip(&w)) {
            *v = 0.5 * *v + (next - w);
        }
        let expected: Vec<f32> = w.iter().zip(&v).map(|(w, v)| w + v).collect();
        run(&mut with, 1);
        assert_close(&weights(&with), &expected, 1e-6);
    }
}

#[test]
fn no_momentum_is_the_base() {
    let data = digits(200, 10).train;
    let deal = || federation(&data, "iid", 4, 9);
    let none = trained(
        &Momentum {
            base: base(),
            beta: 0.0,
        },
        "logistic",
        deal(),
        3,
    );
    assert_close(&none, &trained(&base(), "logistic", deal(), 3), 1e-6);
}

#[test]
fn state_of_the_same_name_is_each_layers_own() {
    let data = digits(200, 10).train;
    let deal = || federation(&data, "iid", 4, 9);
    let momentum = |base, beta| Momentum { base, beta };
    // The inner layer keeps a state `v` too, and with β = 0 changes nothing.
    let twice = Momentum {
        base: momentum(base(), 0.0),
        beta: 0.5,
    };
    let once = trained(&momentum(base(), 0.5), "logistic", deal(), 3);
    assert_close(&trained(&twice, "logistic", deal(), 3), &once, 1e-6);
}

/// A regularizer that reads a client's state and its number of examples inside the gradient:
/// `⟨c_k, w⟩ / n_k`, where `c_k` is what the client's model moved in its last round.
#[derive(Hyper, Debug, Clone)]
pub struct Pull<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Pull<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let w = self.base.client_update(k, w);
        k.set_state("c", &(&w - k.global_params()));
        w
    }

    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        self.base.regularizer(k, w) + k.state("c").dot(w) / k.num_examples()
    }
}

#[test]
fn a_regularizer_may_read_state() {
    let data = digits(200, 10).train;
    let deal = || federation(&data, "iid", 4, 9);
    let all = || FedAvg {
        fraction: 1.0,
        ..base()
    };
    let train = |rounds| trained(&Pull { base: all() }, "logistic", deal(), rounds);
    let plain = |rounds| trained(&all(), "logistic", deal(), rounds);
    // Zeros before it is set, so the first round is the base's; the second feels it.
    assert_close(&train(1), &plain(1), 1e-7);
    let moved = train(2)
        .iter()
        .zip(plain(2))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0f32, f32::max);
    assert!(moved > 1e-5, "the state changed nothing: {moved}");
}

/// Uses a batch before and after it sets state, and moves by the difference of the two losses.
#[derive(Hyper, Debug, Clone)]
pub struct Around<A = FedAvg> {
    /// What aggregates.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Around<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        for b in k.batches(1, 10) {
            let before = cross_entropy(k.forward(&w, &b.x), &b.y);
            k.set_state("c", &w);
            let twice = 2.0 * k.state("c");
            let after = cross_entropy(k.forward(&twice, &b.x), &b.y);
            w -= (after - before) * &twice;
        }
        w
    }
}

#[test]
fn a_batch_may_be_used_on_both_sides_of_a_state_update() {
    let data = digits(20, 10).train;
    let federation = || dealt(&data, vec![(0..10).collect()], 9);
    let mut simulation = simulation(&Around { base: base() }, "logistic", federation());
    let start = weights(&simulation);
    run(&mut simulation, 1);
    let moved = weights(&simulation);
    // One step along w itself: every weight is scaled by one factor.
    let factor = moved[0] / start[0];
    assert!(factor.is_finite() && factor != 1.0);
    let expected: Vec<f32> = start.iter().map(|w| w * factor).collect();
    assert_close(&moved, &expected, 1e-6);
}

#[test]
fn client_state_outlives_the_round() {
    // c_t = 2^(t-1) w_0 for a client that is always there; doubling is exact.
    let data = digits(10, 10).train;
    let federation = dealt(&data, vec![vec![0], vec![1]], 9);
    let mut simulation = simulation(&Sums { fraction: 1.0 }, "logistic", federation);
    let start = weights(&simulation);
    for round in 0..5 {
        let stats = run(&mut simulation, 1);
        assert!(stats.train_loss.is_nan(), "nothing was trained");
        let expected: Vec<f32> = start.iter().map(|w| w * 2f32.powi(round)).collect();
        assert_eq!(bits(&weights(&simulation)), bits(&expected));
    }
}

#[test]
fn a_client_that_is_not_sampled_keeps_its_state() {
    const CLIENTS: usize = 3;
    let data = digits(10, 10).train;
    let federation = dealt(&data, vec![vec![0]; CLIENTS], 9);
    let third = Sums {
        fraction: 1.0 / CLIENTS as f32,
    };
    let mut simulation = simulation(&third, "logistic", federation);
    let mut expected = weights(&simulation);
    let mut kept = vec![vec![0.0f32; expected.len()]; CLIENTS];
    let mut seen = [0; CLIENTS];
    for round in 1..=20 {
        run(&mut simulation, 1);
        let sampled = cohort(9, round, 0, CLIENTS, 1);
        let state = &mut kept[sampled[0]];
        seen[sampled[0]] += 1;
        state.iter_mut().zip(&expected).for_each(|(c, w)| *c += w);
        expected.clone_from(state);
        assert_eq!(
            bits(&weights(&simulation)),
            bits(&expected),
            "round {round}"
        );
    }
    assert!(
        seen.iter().all(|n| *n > 1),
        "every client came back: {seen:?}"
    );
}

#[test]
fn client_state_reads_what_training_did() {
    // Alone, with the whole data: the drift is the sum of the moves so far.
    let data = digits(40, 10).train;
    let deal = || dealt(&data, vec![Vec::from_iter(0..40)], 9);
    let algorithm = FedAvg {
        batch: 40,
        ..base()
    };
    let mut drift = simulation(
        &Drift {
            base: algorithm.clone(),
        },
        "logistic",
        deal(),
    );
    let mut plain = simulation(&algorithm, "logistic", deal());
    let mut c = vec![0.0f32; weights(&plain).len()];
    for _ in 0..3 {
        let w = weights(&drift);
        assert!(plain.set_parameters(leaves(&drift)));
        run(&mut plain, 1);
        for (c, (next, w)) in c.iter_mut().zip(weights(&plain).iter().zip(&w)) {
            *c += next - w;
        }
        run(&mut drift, 1);
        let expected: Vec<f32> = w.iter().zip(&c).map(|(w, c)| w + c).collect();
        assert_close(&weights(&drift), &expected, 1e-6);
    }
}

#[test]
fn a_failed_round_changes_nothing() {
    // Nothing is finite with this step size after the first round.
    let data = digits(100, 10).train;
    let wild = Momentum {
        base: FedAvg {
            lr: 1e6,
            weight_decay: 1e6,
            ..base()
        },
        beta: 0.5,
    };
    let mut simulation = simulation(&wild, "2nn", federation(&data, "iid", 4, 9));
    let mut before = weights(&simulation);
    let error = loop {
        match simulation.run_round() {
            Ok(_) => before = weights(&simulation),
            Err(error) => break error,
        }
        assert!(simulation.round() < 5, "it never diverged");
    };
    assert!(
        error.to_string().contains("no client has a finite update"),
        "{error}"
    );
    assert_eq!(bits(&weights(&simulation)), bits(&before));
}

#[test]
fn state_is_not_on_the_wire() {
    let rows = |algorithm: &dyn Algorithm| {
        fedround::passes::report::wire(compile(algorithm, "logistic", GREY).linked()).len()
    };
    assert_eq!(
        rows(&base()),
        rows(&Momentum {
            base: base(),
            beta: 0.5
        })
    );
    assert_eq!(rows(&base()), rows(&Drift { base: base() }));
}

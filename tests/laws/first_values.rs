//! States that have another first value than zeros, and features that the server keeps.

use fedround::prelude::*;
use fedround::simulation::CohortBatch;

use crate::common::{assert_close, dealt, digits, federation, run, simulation, weights};

/// Nothing is trained: the server and the clients count from what their states begin with.
#[derive(Hyper, Debug, Clone)]
struct Counts {
    /// Fraction of the clients in a round.
    #[hyper(default = 1.0, range = 0.0..=1.0)]
    fraction: f32,
}

#[federated]
impl Algorithm for Counts {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let first = server.state_or("first", &w);
        server.set_state("first", &first);
        let rate = server.scalar_state_or("rate", 8.0);
        server.set_state("rate", &(0.5 * &rate));
        let w_k = w
            .broadcast(&server.sample(self.fraction))
            .zip(&rate.broadcast(&server.current_cohort()));
        let w_k = w_k.map(|k, (w, rate)| {
            let best = k.scalar_state_or("best", 100.0).min(&rate);
            k.set_state("best", &best);
            let met = k.state_or("met", &rate);
            k.set_state("met", &met);
            w
        });
        let w_k = w_k.gather().map(|k, w| {
            let own = k.scalar_state_or("own", 3.0) + 1.0;
            k.set_state("own", &own);
            let old = k.state_or("old", &w);
            k.set_state("old", &old);
            old.add_scalar(0.0 * own)
        });
        // As in the first round, plus one for each: what was first is still there.
        w_k.mean() + (w - first).add_scalar(1.0)
    }
}

/// Clients look for some rounds at a state that they set later.
#[derive(Hyper, Debug, Clone)]
struct Looking {
    /// Rounds without the state.
    #[hyper(default = 2)]
    looks: usize,
}

#[federated]
impl Algorithm for Looking {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients());
        if server.phase("look", self.looks) {
            w_k.map(|k, w| k.set_state("seen", &k.state_or("kept", &w)));
        } else {
            w_k.map(|k, w| {
                k.set_state("seen", &k.state_or("kept", &w));
                k.set_state("kept", &w);
            });
        }
        w.add_scalar(1.0)
    }
}

/// A state that was only read still has the first value that is given, which may be another one in each round.
#[test]
fn reading_a_first_value_sets_no_state() {
    let data = digits(40, 10).train;
    for batch in [CohortBatch::Off, CohortBatch::Clients(4)] {
        let deal = federation(&data, "iid", 4, 9);
        let mut one = simulation(&Looking { looks: 2 }, "logistic", deal).with_cohort_batch(batch);
        let before = weights(&one);
        // In the third round clients keep what they receive, and the fourth one reads it.
        for added in [0.0, 1.0, 2.0, 2.0] {
            run(&mut one, 1);
            let seen = one.client_state(1, "looking.seen").unwrap().unwrap();
            let expected: Vec<f32> = before.iter().map(|w| w + added).collect();
            assert_close(&seen.concat(), &expected, 1e-4);
        }
    }
}

#[test]
fn states_begin_with_their_first_values() {
    let data = digits(40, 10).train;
    for batch in [CohortBatch::Off, CohortBatch::Clients(4)] {
        let deal = federation(&data, "iid", 4, 9);
        let mut one =
            simulation(&Counts { fraction: 1.0 }, "logistic", deal).with_cohort_batch(batch);
        let before = weights(&one);
        for round in 1..4 {
            run(&mut one, 1);
            // w ← w⁰ + (w − w⁰) + 1.
            let expected: Vec<f32> = before.iter().map(|w| w + round as f32).collect();
            assert_close(&weights(&one), &expected, 1e-4);
            let rate = one.server_state("counts.rate").unwrap().unwrap();
            assert_eq!(rate, [[8.0 * 0.5_f32.powi(round)]]);
            for k in 0..4 {
                let of = |name: &str| one.client_state(k, name).unwrap().unwrap()[0][0];
                assert_eq!(of("counts.best"), 8.0 * 0.5_f32.powi(round - 1));
                assert_eq!(of("counts.met"), 8.0);
                let own = one.server_state_for(k, "counts.own").unwrap().unwrap();
                assert_eq!(own, [[3.0 + round as f32]]);
            }
        }
    }
}

/// The server keeps the features that clients released, and in later rounds trains on them.
#[derive(Hyper, Debug, Clone)]
struct Memory {
    /// Step size.
    #[hyper(default = 0.1, range = 0.0..)]
    lr: f32,
}

#[federated]
impl Algorithm for Memory {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        if server.phase("collect", 1) {
            let rows = w.broadcast(&server.all_clients()).map(|k, _| {
                let (x, y) = k.collect(8, |b| (b.x.clone(), b.y.clone()));
                (x.release("to be kept"), y.release("to be kept"))
            });
            server.set_state("x", &rows.0.gather().concat());
            server.set_state("y", &rows.1.gather().concat());
            w
        } else {
            let (x, y) = (server.tensor_state("x"), server.labels_state("y"));
            server.run(|s| {
                let w = s.get(&w);
                let (x, y) = (s.get(&x), s.get(&y));
                &w - self.lr * grad(&w, |w| cross_entropy(s.forward(w, &x), &y))
            })
        }
    }
}

#[test]
fn features_that_the_server_keeps_are_read_in_later_rounds() {
    let data = digits(40, 10).train;
    let deal = || federation(&data, "iid", 4, 9);
    let mut one = simulation(&Memory { lr: 0.1 }, "logistic", deal());
    run(&mut one, 1);
    let mut last = run(&mut one, 2);
    assert_eq!((last.bytes_up, last.bytes_down), (0, 0));
    let all = fedround::algorithms::FedAvg {
        fraction: 1.0,
        batch: 1000,
        lr: 0.1,
        ..Default::default()
    };
    let mut other = simulation(&all, "logistic", dealt(&data, vec![(0..40).collect()], 9));
    run(&mut other, 2);
    assert_close(&weights(&one), &weights(&other), 1e-6);

    // A checkpoint has them, and a simulation that goes on from it the same bits.
    let mut next = simulation(&Memory { lr: 0.1 }, "logistic", deal());
    next.restore(&one.save().unwrap()).unwrap();
    last = run(&mut one, 1);
    assert_eq!(run(&mut next, 1).client_steps, last.client_steps);
    assert_eq!(weights(&next), weights(&one));
    let x = |of: &fedround::simulation::Simulation| of.server_state("memory.x").unwrap().unwrap();
    assert_eq!(x(&next), x(&one));
    assert_eq!(x(&one)[0].len(), 40 * 784);
}

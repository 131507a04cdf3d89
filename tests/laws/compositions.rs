//! Parts of the language in each other: draws in loops, values of some clients beside values of all, states of
//! rows in groups of clients, turns at parties.

use burn::tensor::{Distribution, Tensor};
use fedround::Experiment;
use fedround::algorithms::FedAvg;
use fedround::models::Losses;
use fedround::prelude::*;
use fedround::simulation::parties::{Loopback, PartyHost};
use fedround::simulation::{CohortBatch, Faults};
use fedround::testing::{Trained, experiment};

use crate::common::assert_close;

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        ..FedAvg::default()
    }
}

fn failing() -> Faults {
    Faults {
        dropout: 0.4,
        ..Faults::default()
    }
}

fn trained(experiment: Experiment, rounds: usize) -> Trained {
    experiment.run(rounds).unwrap().into()
}

/// The last round's value of a number that the server keeps.
fn number(trained: &Trained, name: &str) -> f64 {
    trained.report.history.last().unwrap().server_numbers[name]
}

/// A mean by numbers that the server has of all clients, although some fail in the round.
#[derive(Hyper, Debug, Clone)]
pub struct ByNumber<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Whether the server multiplies, instead of the mean.
    #[hyper(default = false)]
    pub in_map: bool,
    /// Whether the clients have the numbers.
    #[hyper(default = false)]
    pub on_clients: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for ByNumber<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let all = server.all_clients();
        let w_k = w.broadcast(&all).map(|k, w| self.client_update(k, w));
        let numbers = all.map_on_server(|k| k.number() + 1.0);
        if self.on_clients {
            w_k.weighted_mean_by(&w_k.map(|k, _| k.number() + 1.0))
        } else if self.in_map {
            let (parts, a_k) = numbers.zip(&w_k.gather()).map(|_, (a, w)| (&a * w, a));
            server.set_state("all", &numbers.sum());
            parts.sum() / a_k.sum()
        } else {
            w_k.gather().weighted_mean(&numbers)
        }
    }
}

#[test]
fn values_of_all_clients_go_to_those_that_are_there() {
    let by_number = |in_map, on_clients| {
        // With one batch, no order of examples matters, which depends on the number of maps before.
        let base = FedAvg {
            batch: 1000,
            ..base()
        };
        let spec = ByNumber {
            base,
            in_map,
            on_clients,
        };
        trained(experiment(spec).faults(failing()), 3)
    };
    let expected = by_number(false, true).weights;
    for in_map in [false, true] {
        assert_close(&by_number(in_map, false).weights, &expected, 1e-5);
    }
    let all = number(&by_number(true, false), "bynumber.all");
    assert_eq!(all, f64::from((1..=20).sum::<i32>()));
}

/// The mean over the clients with the largest numbers, of those that are there.
#[derive(Hyper, Debug, Clone)]
pub struct Largest<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Largest<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let all = server.all_clients();
        let largest = server.top(&all.map_on_server(|k| k.number()), 10);
        let w_k = w.broadcast(&all).map(|k, w| self.client_update(k, w));
        let ones = w_k.map(|_, _| Scalar::from(1.0)).restrict(&largest).sum();
        server.set_state("ones", &ones);
        self.aggregate(server, w_k.restrict(&largest))
    }
}

#[test]
fn a_chosen_client_that_failed_is_left_out() {
    let largest = || experiment(Largest { base: base() });
    assert_eq!(number(&trained(largest(), 1), "largest.ones"), 10.0);
    let ones = number(&trained(largest().faults(failing()), 1), "largest.ones");
    assert!((1.0..10.0).contains(&ones), "{ones}");
}

/// How far batches that are drawn in a loop over batches are from those of the loop, and from each other.
#[derive(Hyper, Debug, Clone)]
pub struct Drawn<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Drawn<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (loops, draws) = w.broadcast(&server.all_clients()).map(|k, _| {
            let (mut of_loop, mut of_draws) = (Scalar::from(0.0), Scalar::from(0.0));
            for b in k.batches(1, 1000) {
                let (first, second) = (k.batch(1000), k.batch(1000));
                of_loop += (&b.x - &first.x).sq_norm();
                of_draws += (&first.x - &second.x).sq_norm();
            }
            (of_loop, of_draws)
        });
        server.set_state("loops", &loops.mean());
        server.set_state("draws", &draws.mean());
        w
    }
}

#[test]
fn what_is_drawn_in_a_loop_over_batches_is_in_another_order_than_the_loop() {
    let drawn = trained(experiment(Drawn { base: base() }), 1);
    for name in ["drawn.loops", "drawn.draws"] {
        let apart = number(&drawn, name);
        assert!(apart > 1.0, "{name}: {apart}");
    }
}

/// Training in loops over batches that are in loops over batches, of clients whose last batches are smaller.
#[derive(Hyper, Debug, Clone)]
pub struct Nested<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Whether features of the last batch are kept.
    #[hyper(default = false)]
    pub keep: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Nested<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        let mut w = w;
        if self.keep {
            for b in k.batches(1, 6) {
                k.set_state("x", &b.x);
                w = &w - 0.1 * grad(&w, |w| cross_entropy(k.forward(w, &b.x), &b.y));
            }
            w = w.add_scalar(1e-3 * k.tensor_state("x").sq_norm());
        } else {
            for b in k.batches(1, 10) {
                for c in k.batches(1, 5) {
                    let at = |w: &Params, b: &Batch| cross_entropy(k.forward(w, &b.x), &b.y);
                    w = &w - 0.1 * grad(&w, |w| at(w, &b) + at(w, &c));
                }
            }
        }
        w
    }
}

#[test]
fn clients_in_groups_have_the_batches_and_rows_that_each_has_alone() {
    for keep in [false, true] {
        let nested = |batch| {
            let spec = Nested { base: base(), keep };
            trained(experiment(spec).cohort_batch(batch), 2).weights
        };
        let alone = nested(CohortBatch::Off);
        assert_close(&nested(CohortBatch::Clients(4)), &alone, 1e-5);
    }
}

/// How far two calls of a function that draws are from each other, in one turn of a loop and in two.
#[derive(Hyper, Debug, Clone)]
pub struct TwoDraws<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for TwoDraws<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (at_once, in_turn) = w.broadcast(&server.all_clients()).map(|k, _| {
            let b = k.batch(4);
            let zero = 0.0 * &b.x;
            let (one, other) = (function("uniform", &zero), function("uniform", &zero));
            let mut alternating = zero.clone();
            for _ in 0..2 {
                alternating = function("uniform", &zero) - &alternating;
            }
            ((one - other).sq_norm(), alternating.sq_norm())
        });
        server.set_state("at_once", &at_once.mean());
        server.set_state("in_turn", &in_turn.mean());
        w
    }
}

fn uniform(x: Tensor<4>) -> Tensor<4> {
    x.random_like(Distribution::Default)
}

#[test]
fn a_function_that_draws_draws_anew_in_each_call() {
    let losses = Losses::default().with_function("uniform", uniform);
    let drawn = trained(experiment(TwoDraws { base: base() }).losses(losses), 1);
    for name in ["twodraws.at_once", "twodraws.in_turn"] {
        let apart = number(&drawn, name);
        assert!(apart > 1.0, "{name}: {apart}");
    }
}

/// Gradients over rows that are drawn inside of them: of computed rows, and of columns of a batch.
#[derive(Hyper, Debug, Clone)]
pub struct DrawnInside<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Whether the rows are those of a batch.
    #[hyper(default = false)]
    pub columns: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for DrawnInside<A> {
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        let rows = (0.5 * (2.0 * &b.x), b.y.clone());
        grad(w, |w| {
            let (x, y) = match self.columns {
                true => k.sample_rows(1000, (b.x.clone(), b.y.clone())),
                false => k.sample_rows(1000, rows.clone()),
            };
            cross_entropy(k.forward(w, &x), &y)
        })
    }
}

/// All rows are drawn, and a mean does not depend on their order.
#[test]
fn rows_are_drawn_inside_gradients() {
    let expected = trained(experiment(base()), 2).weights;
    for columns in [false, true] {
        let spec = DrawnInside {
            base: base(),
            columns,
        };
        assert_close(&trained(experiment(spec), 2).weights, &expected, 1e-5);
    }
}

/// The server gives each client a value of its own, which the clients read in turns.
#[derive(Hyper, Debug, Clone)]
pub struct OwnInTurn<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for OwnInTurn<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let all = server.clients(0, 6);
        let d_k = w
            .broadcast(&all)
            .map(|k, w| self.client_update(k, w.clone()) - w);
        let half_k = d_k.gather().map(|_, d| 0.5 * d).scatter();
        let mut w = w;
        for client in all.in_turn() {
            let own = half_k.restrict(&client);
            let moved = w.broadcast(&client).zip(&own).map(|_, (w, d)| w + d);
            w = moved.mean();
        }
        w
    }
}

#[test]
fn parties_have_what_each_of_their_clients_was_sent() {
    let own = || experiment(OwnInTurn { base: base() }).prepare(2).unwrap();
    let expected: Trained = own().train(&mut ()).unwrap().into();
    let hosts = [0, 1]
        .map(|party| -> PartyHost { own().into_party((party..20).step_by(2).collect()).unwrap() });
    let parties = Box::new(Loopback::new(hosts.into()));
    let mut run = own().with_parties(parties, 1).unwrap();
    let found: Trained = run.train(&mut ()).unwrap().into();
    assert_close(&found.weights, &expected.weights, 1e-6);
    assert!(
        found
            .report
            .history
            .iter()
            .all(|round| round.failed.is_empty())
    );
}

/// Clients send their models in turns.
#[derive(Hyper, Debug, Clone)]
pub struct SentInTurn<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for SentInTurn<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let all = server.clients(0, 3);
        let w_k = w.broadcast(&all).map(|k, w| self.client_update(k, w));
        let mut w = w;
        for client in all.in_turn() {
            w = 0.5 * &w + 0.5 * w_k.restrict(&client).mean();
        }
        w
    }
}

#[test]
fn bytes_of_all_turns_are_counted() {
    let sent = trained(experiment(SentInTurn { base: base() }), 1);
    let model = 4 * sent.weights.len() as u64;
    assert_eq!(sent.report.history[0].bytes_up, 3 * model);
}

/// Both operands are one value.
#[derive(Hyper, Debug, Clone)]
pub struct Twice<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Twice<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients());
        let w_k = w_k
            .zip(&w_k)
            .map(|k, (a, b)| self.client_update(k, 0.5 * a + 0.5 * b));
        self.aggregate(server, w_k)
    }
}

#[test]
fn one_value_may_be_two_operands() {
    let found = trained(experiment(Twice { base: base() }), 2).weights;
    assert_close(&found, &trained(experiment(base()), 2).weights, 1e-6);
}

/// A model that stays, although clients are given its double in the rounds of a first phase.
#[derive(Hyper, Debug, Clone)]
pub struct Doubled {
    /// Those rounds.
    #[hyper(default = 1)]
    pub rounds: usize,
}

#[federated]
impl Algorithm for Doubled {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let arrived = server.arrivals(3, 1);
        if server.phase("doubled", self.rounds) {
            let twice_k = (2.0 * &w).dispatch(&arrived).map(|_, w| w);
            0.5 * twice_k.mean()
        } else {
            w.dispatch(&arrived).map(|_, w| w).mean()
        }
    }
}

#[test]
fn a_client_that_began_in_another_phase_is_not_given_its_values() {
    let doubled = |rounds| trained(experiment(Doubled { rounds }), 3).weights;
    assert_close(&doubled(1), &doubled(0), 1e-6);
}

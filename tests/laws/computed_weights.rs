//! Means by weights that clients compute.

use fedround::Experiment;
use fedround::algorithms::FedAvg;
use fedround::prelude::*;
use fedround::simulation::parties::{Loopback, PartyHost};
use fedround::simulation::{CohortBatch, Faults};
use fedround::testing::{
    Stage, Trained, assert_trains_alike, compare, experiment, graph_text, train,
};

use crate::common::assert_close;

/// The mean by the loss of the trained model, to the power of `q`; docs/specs.md has it.
#[derive(Hyper, Debug, Clone)]
pub struct ByLoss<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `q`.
    #[hyper(default = 1.0, range = 0.0..)]
    pub q: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for ByLoss<A> {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        let a_k = w_k.map(|k, w| self.loss(k, &w, &k.batch(1000)).pow(self.q));
        w_k.weighted_mean_by(&a_k)
    }
}

/// How a weighted mean is written.
#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// As a mean.
    Mean,
    /// As a quotient of sums.
    Sums,
    /// Over gathered values.
    Gathered,
}

/// The mean by how far clients have trained. Clients compute the weights in groups, and parties can sum by them.
#[derive(Hyper, Debug, Clone)]
pub struct ByDistance<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// How it is written.
    #[hyper(default = Written::Mean)]
    pub written: Written,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for ByDistance<A> {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        let a_k = w_k.map(|k, w| (w - k.global_params()).sq_norm() + 0.01);
        match self.written {
            Written::Mean => w_k.weighted_mean_by(&a_k),
            Written::Sums => w_k.weighted_sum(&a_k) / a_k.sum(),
            Written::Gathered => w_k.gather().weighted_mean(&a_k.gather()),
        }
    }
}

/// The mean by one number of the client's own.
#[derive(Hyper, Debug, Clone)]
pub struct ByNumber<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// What the number of examples counts.
    #[hyper(default = 1.0)]
    pub examples: f32,
    /// Added to each weight.
    #[hyper(default = 0.0)]
    pub all: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for ByNumber<A> {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.weighted_mean_by(&w_k.map(|k, _| self.examples * k.num_examples() + self.all))
    }
}

/// The plain mean.
#[derive(Hyper, Debug, Clone)]
pub struct Plain<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Plain<A> {
    fn aggregate(&self, _: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        w_k.mean()
    }
}

fn base() -> FedAvg {
    FedAvg {
        fraction: 0.4,
        ..FedAvg::default()
    }
}

fn by_loss(q: f32) -> ByLoss {
    ByLoss { base: base(), q }
}

fn by_distance(written: Written) -> ByDistance {
    ByDistance {
        base: base(),
        written,
    }
}

fn by_number(examples: f32, all: f32) -> ByNumber {
    ByNumber {
        base: base(),
        examples,
        all,
    }
}

fn weights(experiment: Experiment) -> Vec<f32> {
    Trained::from(experiment.run(3).unwrap()).weights
}

#[test]
fn weights_of_examples_are_fed_avgs() {
    assert_trains_alike!(by_number(1.0, 0.0), base());
}

#[test]
fn equal_weights_are_none() {
    let plain = || Plain { base: base() };
    assert_trains_alike!(by_number(0.0, 2.0), plain(), tolerance = 1e-6);
    assert_trains_alike!(by_loss(0.0), plain(), tolerance = 1e-6);
    compare(by_loss(1.0), plain(), 3, 1e-6).unwrap_err();
}

/// Their factor cancels, whatever its sign.
#[test]
fn weights_may_all_be_negative() {
    assert_trains_alike!(by_number(-2.0, 0.0), base(), tolerance = 1e-6);
}

#[test]
fn weights_that_sum_to_zero_have_no_mean() {
    let error = train(by_number(0.0, 0.0), 1).unwrap_err().to_string();
    assert!(error.contains("the weights sum to zero"), "{error}");
}

#[test]
fn a_mean_by_weights_is_a_quotient_of_sums() {
    for written in [Written::Sums, Written::Gathered] {
        let (mean, other) = (by_distance(Written::Mean), by_distance(written));
        assert_trains_alike!(mean, other, tolerance = 1e-6);
    }
    let plain = Plain { base: base() };
    compare(by_distance(Written::Mean), plain, 3, 1e-6).unwrap_err();
}

#[test]
fn clients_in_one_graph_have_their_own_weights() {
    let found = |batch| weights(experiment(by_distance(Written::Mean)).cohort_batch(batch));
    let (alone, grouped) = (found(CohortBatch::Off), found(CohortBatch::Clients(4)));
    assert_close(&grouped, &alone, 1e-5);
}

#[test]
fn only_the_clients_that_are_there_weigh() {
    let failing = |written| {
        let faults = Faults {
            dropout: 0.4,
            ..Faults::default()
        };
        weights(experiment(by_distance(written)).faults(faults))
    };
    let (mean, sums) = (failing(Written::Mean), failing(Written::Sums));
    assert_close(&mean, &sums, 1e-5);
    let all = weights(experiment(by_distance(Written::Mean)));
    assert!(mean != all, "nobody failed");
}

/// Trains with two parties, which send their clients' sums or each client's values.
fn with_parties(algorithm: impl Algorithm + Clone, sums: bool) -> Vec<f32> {
    let own = || experiment(algorithm.clone()).prepare(3).unwrap();
    let hosts = [0, 1]
        .map(|party| -> PartyHost { own().into_party((party..20).step_by(2).collect()).unwrap() });
    let parties = Box::new(Loopback::new(hosts.into()));
    let mut run = own()
        .with_parties(parties, 1)
        .unwrap()
        .with_partial_sums(sums);
    Trained::from(run.train(&mut ()).unwrap()).weights
}

#[test]
fn parties_send_values_or_sums_by_their_clients_weights() {
    let mean = || by_distance(Written::Mean);
    let text = graph_text(&mean(), Stage::Parties).unwrap();
    assert!(text.contains("can sum    params2 by f32_1"), "{text}");
    let expected = train(mean(), 3).unwrap().weights;
    for sums in [false, true] {
        assert_close(&with_parties(mean(), sums), &expected, 1e-5);
    }
    // These cannot be summed by parties, as the loss of a batch is no work of the training map.
    let expected = train(by_loss(1.0), 3).unwrap().weights;
    assert_close(&with_parties(by_loss(1.0), true), &expected, 1e-5);
}

#[test]
fn parties_may_send_negative_weights() {
    let negative = || by_number(-2.0, 0.0);
    let expected = train(negative(), 3).unwrap().weights;
    for sums in [false, true] {
        assert_close(&with_parties(negative(), sums), &expected, 1e-5);
    }
}

#[test]
fn the_wire_table_has_the_weights() {
    let wire = graph_text(&by_loss(1.0), Stage::Wire).unwrap();
    let rows = wire
        .lines()
        .filter(|line| line.starts_with("client → server"));
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), 2, "{wire}");
    assert!(
        rows[1].contains("number") && rows[1].ends_with(" 4"),
        "{wire}"
    );
    let text = graph_text(&by_loss(1.0), Stage::Box).unwrap();
    assert!(text.contains("Σ"), "{text}");
}

//! Short runs for tests of own algorithms, and their comparison.

use fedround::algorithms::{FedAvg, FedProx};
use fedround::experiment::{Observer, Warning};
use fedround::prelude::*;
use fedround::testing::{Trained, Unlike, assert_trains_alike, compare, experiment, train};

fn fed_avg(lr: f32) -> FedAvg {
    FedAvg {
        lr,
        ..FedAvg::default()
    }
}

fn fed_prox(mu: f32) -> FedProx {
    FedProx {
        base: fed_avg(0.1),
        mu,
    }
}

#[test]
fn a_law_holds_or_not() {
    assert_trains_alike!(fed_prox(0.0), fed_avg(0.1));
    assert_trains_alike!(
        fed_avg(0.1),
        fed_avg(0.100_001),
        rounds = 2,
        tolerance = 1e-3
    );
    compare(fed_avg(0.1), fed_avg(0.100_001), 2, 0.0).unwrap_err();
    compare(fed_prox(1.0), fed_avg(0.1), 2, 1e-6).unwrap_err();
}

#[test]
#[should_panic(expected = "of 7850 parameters differ by more than 1e-6; the most in `")]
fn a_law_that_does_not_hold_says_where() {
    assert_trains_alike!(fed_avg(0.1), fed_avg(0.2), tolerance = 1e-6);
}

#[test]
fn the_largest_difference_is_told() {
    let error = compare(fed_avg(0.1), fed_avg(0.2), 1, 0.0).unwrap_err();
    let Unlike::Values {
        rounds,
        differing,
        all,
        expected,
        found,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((rounds, all), (1, 7850));
    assert!(differing > 0 && differing <= all, "{differing}");
    let (a, b) = (
        train(fed_avg(0.1), 1).unwrap(),
        train(fed_avg(0.2), 1).unwrap(),
    );
    let pairs = a.weights.iter().zip(&b.weights);
    let most = pairs.map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
    assert_eq!((expected - found).abs(), most);
}

#[test]
fn training_begins_where_no_round_was_trained() {
    let start = train(fed_avg(0.1), 0).unwrap();
    let still = train(fed_avg(0.0), 2).unwrap();
    assert_eq!(start.losses, [0.0; 0]);
    assert_eq!(still.losses.len(), 2);
    assert_eq!(start.weights.len(), 7850);
    assert!(start.weights == still.weights);
}

#[test]
fn an_experiment_may_be_another() {
    let run = experiment(fed_avg(0.1)).model("2nn").clients(4).run(2);
    let trained = Trained::from(run.unwrap());
    assert_eq!(trained.weights.len(), 199_210);
    let losses = train(fed_avg(0.1), 20).unwrap().losses;
    assert!(losses[19] < losses[0], "{losses:?}");
}

/// Rounds that give back the model as it came.
#[derive(Hyper, Debug, Clone)]
struct Idle<A = FedAvg> {
    /// What would train it.
    base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Idle<A> {
    fn round(&self, _: &ServerCx, w: Server<Params>) -> Server<Params> {
        w
    }
}

/// What an observer was warned of.
#[derive(Default)]
struct Told(Vec<Warning>);

impl Observer for Told {
    fn warned(&mut self, warning: &Warning) {
        self.0.push(warning.clone());
    }
}

#[test]
fn an_observer_is_warned_before_the_first_round() {
    let warned = |experiment: fedround::Experiment| {
        let mut told = Told::default();
        experiment.run_observed(1, &mut told).unwrap();
        told.0
    };
    let idle = warned(experiment(Idle { base: fed_avg(0.1) }));
    assert!(idle.contains(&Warning::TrainsNothing), "{idle:?}");
    assert_eq!(warned(experiment(fed_avg(0.1))), []);
}

//! The number of clients in a cohort, which the server knows without an upload.

use fedround::algorithms::FedAvg;
use fedround::prelude::*;
use fedround::simulation::{Distribution, Faults};
use fedround::testing::{Stage, Trained, assert_trains_alike, experiment, graph_text};

/// The mean as a sum that is divided by the size of the cohort.
#[derive(Hyper, Debug, Clone)]
pub struct Divided<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Whether the clients divide.
    #[hyper(default = false)]
    pub on_clients: bool,
    /// Whether the sum is the mean.
    #[hyper(default = false)]
    pub mean: bool,
    /// Whether the size is that of all clients, of whom some may not be there.
    #[hyper(default = false)]
    pub of_all: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Divided<A> {
    fn aggregate(&self, server: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        let cohort = if self.of_all {
            server.all_clients()
        } else {
            server.current_cohort()
        };
        let m = cohort.num_clients();
        server.set_state("m", &m);
        server.set_state("ones", &w_k.map(|_, _| Scalar::from(1.0)).sum());
        if self.mean {
            w_k.mean()
        } else if self.on_clients {
            let parts = w_k.zip(&m.broadcast(&cohort)).map(|_, (w, m)| w / m);
            parts.sum()
        } else {
            w_k.sum() / m
        }
    }
}

fn divided(on_clients: bool, mean: bool) -> Divided {
    let base = FedAvg {
        fraction: 0.4,
        ..FedAvg::default()
    };
    Divided {
        base,
        on_clients,
        mean,
        of_all: false,
    }
}

/// Divides by the number of all clients, who are called when they are counted.
fn of_all() -> Divided {
    let base = FedAvg {
        fraction: 1.0,
        ..FedAvg::default()
    };
    Divided {
        base,
        of_all: true,
        ..divided(false, false)
    }
}

#[test]
fn a_sum_over_the_size_is_the_mean() {
    for on_clients in [false, true] {
        let (by_hand, mean) = (divided(on_clients, false), divided(false, true));
        assert_trains_alike!(by_hand, mean, tolerance = 1e-6);
    }
}

/// The sizes of the rounds' cohorts, after a check that as many values have arrived.
fn sizes(algorithm: Divided, faults: Faults) -> Vec<f64> {
    let run = experiment(algorithm).faults(faults).run(4);
    let rounds = Trained::from(run.unwrap()).report.history;
    let of = |name: &'static str| {
        let numbers = rounds.iter().map(move |round| round.server_numbers[name]);
        numbers.collect::<Vec<f64>>()
    };
    assert_eq!(of("divided.m"), of("divided.ones"));
    of("divided.m")
}

#[test]
fn the_size_counts_those_whose_values_arrive() {
    let faults = |dropout| Faults {
        dropout,
        ..Faults::default()
    };
    assert_eq!(sizes(divided(false, false), faults(0.0)), [8.0; 4]);
    let some = sizes(divided(false, false), faults(0.5));
    assert!(some.iter().all(|m| (1.0..=8.0).contains(m)), "{some:?}");
    assert!(some.iter().sum::<f64>() < 32.0, "{some:?}");
    assert_eq!(sizes(of_all(), faults(0.0)), [20.0; 4]);
    let some = sizes(of_all(), faults(0.5));
    assert!(some.iter().all(|m| *m < 20.0), "{some:?}");
}

#[test]
fn the_size_does_not_count_who_is_late() {
    let speeds = (0..20).map(|i| if i < 5 { 1e-3 } else { 1.0 });
    let faults = |deadline| Faults {
        speed: Some(Distribution::Listed(speeds.clone().collect())),
        deadline: Some(deadline),
        ..Faults::default()
    };
    let run = experiment(of_all()).faults(faults(f64::INFINITY)).run(1);
    let rounds = Trained::from(run.unwrap()).report.history;
    let slowest = rounds[0].virtual_seconds.unwrap();
    assert_eq!(sizes(of_all(), faults(slowest / 100.0)), [15.0; 4]);
}

#[test]
fn nothing_is_sent_for_the_size() {
    let (with, without) = (divided(false, false), FedAvg::default());
    let text = graph_text(&with, Stage::Box).unwrap();
    assert!(text.contains("|S|"), "{text}");
    let linked = graph_text(&with, Stage::Linked).unwrap();
    assert!(linked.contains("fed.cohort_size"), "{linked}");
    let uploads = |wire: String| wire.matches("client → server").count();
    // The ones of the test are the second upload, as the numbers of examples are FedAvg's.
    assert_eq!(
        uploads(graph_text(&with, Stage::Wire).unwrap()),
        uploads(graph_text(&without, Stage::Wire).unwrap())
    );
}

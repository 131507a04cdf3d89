//! Clients that send to each other: push-sum's identities and its bytes.

use fedround::algorithms::{FedAvg, PushSum, PushSumTopology};
use fedround::exec::Program;
use fedround::models::{self, Losses};
use fedround::prelude::*;
use fedround::simulation::Simulation;
use fedround::trace::TracedModel;

use crate::common::{
    Deal, GREY, assert_close, compile, digits, federation, run, simulation, weights,
};

/// Bytes of logistic regression's parameters.
pub(crate) const SIZE: u64 = 4 * 7850;

const ALL: [PushSumTopology; 7] = [
    PushSumTopology::Exponential,
    PushSumTopology::Ring,
    PushSumTopology::Torus,
    PushSumTopology::Random,
    PushSumTopology::Complete,
    PushSumTopology::Pairs,
    PushSumTopology::Regular,
];

pub(crate) fn push_sum(topology: PushSumTopology, lr: f32) -> PushSum {
    PushSum {
        topology,
        degree: 3,
        epochs: 1,
        batch: 1000,
        lr,
    }
}

/// Clients of ten examples each.
pub(crate) fn even(clients: usize) -> Deal {
    federation(&digits(10 * clients, 1).train, "shards:2", clients, 7)
}

pub(crate) fn kept(simulation: &Simulation, name: &str, clients: usize) -> Vec<Vec<f32>> {
    let state = |k| simulation.client_state(k, name).unwrap().unwrap().concat();
    (0..clients).map(state).collect()
}

#[test]
fn all_with_all_is_the_mean_of_every_round() {
    let fed_avg = FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 1000,
        lr: 0.1,
        ..FedAvg::default()
    };
    let mut peers = simulation(
        &push_sum(PushSumTopology::Complete, 0.1),
        "logistic",
        even(4),
    );
    let mut server = simulation(&fed_avg, "logistic", even(4));
    for _ in 0..3 {
        let stats = run(&mut peers, 1);
        run(&mut server, 1);
        assert_close(&weights(&peers), &weights(&server), 1e-6);
        assert!(stats.consensus.unwrap() < 1e-9, "{stats:?}");
    }
}

#[test]
fn mass_is_preserved_and_weights_stay_1_where_rows_sum_to_1() {
    for topology in ALL {
        // Without steps each has a multiple of the initial model.
        let mut peers = simulation(&push_sum(topology, 0.0), "logistic", even(6));
        let initial = weights(&peers);
        let stats = run(&mut peers, 3);
        let p: Vec<f32> = kept(&peers, "push-sum.p", 6).concat();
        assert!(
            (p.iter().sum::<f32>() - 6.0).abs() < 1e-5,
            "{topology:?}: {p:?}"
        );
        let ones = p.iter().all(|p| (p - 1.0).abs() < 1e-6);
        assert_eq!(
            ones,
            topology != PushSumTopology::Random,
            "{topology:?}: {p:?}"
        );
        for (x, p) in kept(&peers, "push-sum.x", 6).iter().zip(&p) {
            let expected: Vec<f32> = initial.iter().map(|w| w * p).collect();
            assert_close(x, &expected, 1e-6);
        }
        // De-biased, they agree.
        assert_close(&weights(&peers), &initial, 1e-6);
        assert!(stats.consensus.unwrap() < 1e-9, "{stats:?}");
    }
}

#[test]
fn edges_are_counted_and_nothing_goes_through_the_server() {
    let neighbours = [1, 2, 4, 1, 11, 1, 3];
    for (topology, degree) in ALL.into_iter().zip(neighbours) {
        let mut peers = simulation(&push_sum(topology, 0.1), "logistic", even(12));
        for _ in 0..2 {
            let stats = run(&mut peers, 1);
            assert_eq!((stats.bytes_up, stats.bytes_down), (0, 0), "{topology:?}");
            // A model and its weight along each edge.
            assert_eq!(stats.bytes_across, 12 * degree * (SIZE + 4), "{topology:?}");
        }
    }
}

#[test]
fn distance_is_that_of_the_clients_models_and_mixing_reduces_it() {
    let distance = |topology| {
        let mut peers = simulation(&push_sum(topology, 0.1), "logistic", even(6));
        let found = run(&mut peers, 2).consensus.unwrap();
        let own = kept(&peers, "push-sum.x", 6);
        let p = kept(&peers, "push-sum.p", 6).concat();
        let mean = weights(&peers);
        let square = own.iter().zip(&p).map(|(x, p)| {
            let differences = x.iter().zip(&mean).map(|(x, m)| f64::from(x / p - m));
            differences.map(|d| d * d).sum::<f64>()
        });
        let expected = square.sum::<f64>() / 6.0;
        assert!(
            (found - expected).abs() < 1e-6 * (1.0 + expected),
            "{found} {expected}"
        );
        found
    };
    let [ring, complete] = [PushSumTopology::Ring, PushSumTopology::Complete].map(distance);
    assert!(ring > 1e-4 && complete < 1e-9, "{ring} {complete}");
}

/// Why an algorithm does not compile.
pub(crate) fn refused(algorithm: &dyn Algorithm) -> String {
    let model = models::find("logistic")
        .unwrap()
        .build(GREY, &Default::default());
    let tracer = TracedModel::new("logistic", model.unwrap(), GREY, Losses::default());
    let error = Program::compile(algorithm, tracer).err().unwrap();
    error.to_string()
}

/// Sends what is only measured.
#[derive(Hyper, Debug, Clone)]
struct Told {}

#[federated]
impl Algorithm for Told {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w.broadcast(&server.all_clients()).map(|_, w| 2.0 * w);
        w_k.mix(Topology::Ring).consensus()
    }
}

#[test]
fn what_nobody_receives_is_refused() {
    let error = refused(&Told {});
    assert!(
        error.contains("is only a measurement; no participant receives it"),
        "{error}"
    );

    let program = compile(&PushSum::default(), "logistic", GREY);
    let error = program.parties().unwrap_err().to_string();
    assert!(
        error.contains("parties are connected only to the coordinator"),
        "{error}"
    );
}

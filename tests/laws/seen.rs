//! An observer is shown the values of single clients that the server sees.

use fedround::algorithms::{Adfl, FedAvg};
use fedround::ir::fed::Kind;
use fedround::passes::fed::examples_in_order;
use fedround::prelude::*;
use fedround::simulation::{ServerObservation, Simulation};

use crate::common::{assert_close, bits, dealt, digits, simulation, weights};

/// Clients release all of their inputs in order, and in a random order.
#[derive(Hyper, Debug, Clone)]
pub struct Shows {
    /// Share of the inputs in a random order.
    #[hyper(default = 1.0, range = 0.0..=1.0)]
    pub share: f32,
}

#[federated]
impl Algorithm for Shows {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (x_k, drawn_k) = w.broadcast(&server.all_clients()).map(|k, _| {
            let x = k.collect(3, |b| b.x.clone());
            let drawn = k.sample_row_fraction(self.share, x.clone());
            (x.release("in order"), drawn.release("drawn"))
        });
        let (x, drawn) = (x_k.gather().concat(), drawn_k.gather().concat());
        let sum = server.run(|s| s.get(&x).sq_norm() + s.get(&drawn).sq_norm());
        server.set_state("sum", &sum);
        w
    }
}

const SIZES: [usize; 3] = [4, 7, 5];

fn clients(algorithm: &dyn Algorithm) -> Simulation {
    let data = digits(16, 1).train;
    let mut first = 0;
    let parts = SIZES.map(|n| {
        first += n;
        (first - n..first).rev().collect()
    });
    simulation(algorithm, "logistic", dealt(&data, parts.to_vec(), 5))
}

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        ..FedAvg::default()
    }
}

/// What a round shows.
fn seen(simulation: &mut Simulation) -> Vec<ServerObservation> {
    let mut all = vec![];
    let round = simulation.run_round_observed(|seen| all.push(seen));
    round.unwrap_or_else(|error| panic!("{error}"));
    all
}

#[test]
fn looking_on_changes_nothing() {
    let algorithms: [&dyn Algorithm; 2] = [
        &base(),
        &Adfl {
            base: base(),
            steps: 2,
            ..Adfl::default()
        },
    ];
    for algorithm in algorithms {
        let (mut one, mut other) = (clients(algorithm), clients(algorithm));
        for _ in 0..2 {
            let stats = one.run_round().unwrap();
            let again = other.run_round_observed(|_| {}).unwrap();
            assert_eq!(stats, again);
        }
        assert_eq!(bits(&weights(&one)), bits(&weights(&other)));
    }
}

#[test]
fn models_are_seen_as_they_are_averaged() {
    let mut simulation = clients(&base());
    let all = seen(&mut simulation);
    assert!(
        all.iter()
            .all(|s| s.sent && s.kind == Kind::Params && s.round == 1)
    );
    let mut clients: Vec<usize> = all.iter().map(|s| s.client).collect();
    clients.sort_unstable();
    assert_eq!(clients, [0, 1, 2]);
    let model = |s: &ServerObservation| -> Vec<f32> {
        let leaves = s.tensors.iter();
        leaves.flat_map(|leaf| leaf.values.clone()).collect()
    };
    let mut mean = vec![0.0; model(&all[0]).len()];
    for s in &all {
        let (own, n) = (model(s), SIZES[s.client]);
        mean.iter_mut()
            .zip(own)
            .for_each(|(m, w)| *m += n as f32 / 16.0 * w);
    }
    assert_close(&mean, &weights(&simulation), 1e-6);
}

#[test]
fn rows_are_the_examples_where_the_graph_says_so() {
    let mut simulation = clients(&Shows { share: 1.0 });
    let all = seen(&mut simulation);
    let ordered = examples_in_order(simulation.program().linked());
    let federation = simulation.dataset();
    let own = |k: usize| {
        let part = &federation.client_indices[k];
        let mut x = vec![0.0; part.len() * 784];
        federation.examples.x().gather_into(part, &mut x).unwrap();
        x
    };
    let (mut in_order, mut drawn) = (0, 0);
    for s in &all {
        assert_eq!(s.tensors[0].shape, [SIZES[s.client], 1, 28, 28]);
        let same = s.tensors[0].values == own(s.client);
        // An order at random may be the same, but not of all clients.
        match ordered.contains(&s.value) {
            true => {
                assert!(same, "client {}", s.client);
                in_order += 1;
            }
            false => drawn += usize::from(!same),
        }
    }
    assert_eq!((all.len(), in_order), (6, 3));
    assert!(drawn > 0);
}

#[test]
fn images_that_the_server_makes_are_seen_by_client() {
    let mut simulation = clients(&Adfl {
        base: base(),
        steps: 2,
        ..Adfl::default()
    });
    let all = seen(&mut simulation);
    let images = all.iter().filter(|s| !s.sent && s.kind == Kind::Tensor);
    let found: Vec<(usize, &[usize])> = images
        .map(|s| (s.client, s.tensors[0].shape.as_slice()))
        .collect();
    let shape: &[usize] = &[10, 1, 28, 28];
    assert_eq!(found, [(0, shape), (1, shape), (2, shape)]);
    // Classes are whole numbers.
    let classes = all.iter().find(|s| s.kind == Kind::Labels).unwrap();
    let expected: Vec<f32> = (0..10).map(|c| c as f32).collect();
    assert_eq!(classes.tensors[0].values, expected);
}

//! Clients that mix by a matrix: decentralised SGD over weights of the algorithm's own.

use fedround::algorithms::PushSumTopology;
use fedround::prelude::*;
use fedround::simulation::{Faults, Simulation};
use fedround::testing::{Stage, graph_text};

use crate::common::{assert_close, run, simulation, weights};
use crate::peers::{SIZE, even, kept, push_sum, refused};

/// Decentralised SGD over weights of the algorithm's own; Lian et al. 2017, "Can Decentralized Algorithms
/// Outperform Centralized Algorithms?", Algorithm 1.
#[derive(Hyper, Debug, Clone)]
struct Dsgd {
    /// Step size.
    #[hyper(default = 0.0)]
    pub lr: f32,
    /// What is wrong with the weights.
    #[hyper(default = Weights::Doubly)]
    pub weights: Weights,
}

#[derive(Hyper, Clone, Copy, Debug, PartialEq, Eq)]
enum Weights {
    /// Nothing: rows and columns sum to 1.
    Doubly,
    /// Nothing: a quarter of the cosines of what four clients have, which are 1 at first.
    Measured,
    /// Rows sum to 1 and columns do not.
    Rows,
    /// A row sums to less.
    Less,
    /// A client is missing.
    Small,
    /// A row is shorter.
    Ragged,
}

/// The weights, row by row.
fn rows(weights: Weights) -> Vec<Vec<f32>> {
    match weights {
        Weights::Measured => vec![],
        Weights::Doubly => vec![
            vec![0.75, 0.25, 0.0, 0.0],
            vec![0.25, 0.5, 0.0, 0.25],
            vec![0.0, 0.0, 0.5, 0.5],
            vec![0.0, 0.25, 0.5, 0.25],
        ],
        Weights::Rows => vec![vec![1.0, 0.0, 0.0, 0.0]; 4],
        Weights::Less => vec![vec![0.25, 0.25, 0.25, 0.0]; 4],
        Weights::Small => vec![vec![0.5, 0.5]; 2],
        Weights::Ragged => vec![vec![0.5, 0.5], vec![1.0]],
    }
}

#[federated]
impl Algorithm for Dsgd {
    fn round(&self, server: &ServerCx, _: Server<Params>) -> Server<Params> {
        let x_0 = server.initial_params(0).broadcast(&server.all_clients());
        let x = x_0.map(|k, x_0| {
            // Every client begins from a place of its own.
            let x = k.state_or("x", &((k.number() + 1.0) * x_0));
            let b = k.batch(1000);
            &x - self.lr * grad(&x, |x| self.loss(k, x, &b))
        });
        let weights = match self.weights {
            Weights::Measured => {
                let cosines = x.gather().cosines();
                server.run(|s| 0.25 * s.get(&cosines))
            }
            _ => server.matrix(&rows(self.weights)),
        };
        let n = x.map(|k, _| k.number());
        let (x, n) = x.zip(&n).mix_by(&weights);
        let x = x.zip(&n).map(|k, (x, n)| {
            k.set_state("x", &x);
            k.set_state("n", &n);
            x
        });
        x.consensus()
    }
}

fn dsgd(weights: Weights, lr: f32) -> Simulation {
    simulation(&Dsgd { lr, weights }, "logistic", even(4))
}

#[test]
fn a_doubly_stochastic_matrix_keeps_the_mean_and_counts_its_edges() {
    let mut peers = dsgd(Weights::Doubly, 0.0);
    let initial = weights(&peers);
    let mean: Vec<f32> = initial.iter().map(|w| 2.5 * w).collect();
    let mut apart = f64::INFINITY;
    for round in 0..6 {
        let stats = run(&mut peers, 1);
        if round == 0 {
            // The numbers 0 to 3, each by its row.
            let expected = [0.25, 1.25, 2.5, 2.0];
            assert_close(&kept(&peers, "dsgd.n", 4).concat(), &expected, 1e-6);
        }
        assert_close(&weights(&peers), &mean, 1e-5);
        let now = stats.consensus.unwrap();
        assert!(now < apart, "{now} and {apart}");
        apart = now;
        // Three edges, in both directions, of a model and a number.
        assert_eq!(stats.bytes_across, 6 * (SIZE + 4));
    }
    // At first it is 1.25 times that.
    let length = f64::from(square(&initial));
    assert!(apart < 0.3 * length, "{apart} of {length}");
}

#[test]
fn the_server_may_compute_a_matrix() {
    let mut peers = dsgd(Weights::Measured, 0.0);
    let mean: Vec<f32> = weights(&peers).iter().map(|w| 2.5 * w).collect();
    let stats = run(&mut peers, 1);
    for own in kept(&peers, "dsgd.x", 4) {
        assert_close(&own, &mean, 1e-5);
    }
    assert_eq!(stats.bytes_across, 12 * (SIZE + 4));
}

/// The squared length of a row.
fn square(row: &[f32]) -> f32 {
    row.iter().map(|x| x * x).sum()
}

#[test]
fn rows_alone_do_not_keep_the_mean() {
    let mut peers = dsgd(Weights::Rows, 0.0);
    let initial = weights(&peers);
    let stats = run(&mut peers, 1);
    // All have what the first one had.
    assert_close(&weights(&peers), &initial, 1e-6);
    assert_eq!(stats.bytes_across, 3 * (SIZE + 4));
}

#[test]
fn decentralised_sgd_learns() {
    let mut peers = dsgd(Weights::Doubly, 0.02);
    let first = run(&mut peers, 1).train_loss;
    let last = run(&mut peers, 15).train_loss;
    assert!(last < 0.8 * first, "{first} {last}");
}

/// A client keeps what it had in place of what missing ones would have sent.
#[test]
fn the_weight_of_a_missing_client_stays_at_each_receiver() {
    let faults = Faults {
        dropout: 0.3,
        ..Faults::default()
    };
    let mut peers = dsgd(Weights::Doubly, 0.0).with_faults(faults).unwrap();
    let (rows, initial) = (rows(Weights::Doubly), weights(&peers));
    // Each client has a multiple of the initial model.
    let mut multiple = [1.0f32, 2.0, 3.0, 4.0];
    let mut failed = 0;
    for _ in 0..6 {
        let missing = run(&mut peers, 1).failed;
        failed += missing.len();
        let before = multiple;
        for i in (0..4).filter(|i| !missing.contains(i)) {
            let sender = |j: usize| if missing.contains(&j) { i } else { j };
            multiple[i] = (0..4).map(|j| rows[i][j] * before[sender(j)]).sum();
            let expected: Vec<f32> = initial.iter().map(|w| multiple[i] * w).collect();
            let own = peers.client_state(i, "dsgd.x").unwrap().unwrap();
            assert_close(&own.concat(), &expected, 1e-5);
        }
    }
    assert!(failed > 2, "{failed}");
}

#[test]
fn a_matrix_that_is_no_mean_is_refused() {
    let error = dsgd(Weights::Less, 0.0).run_round().unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("row 0 of the mixing matrix sums to 0.75; expected 1"),
        "{error}"
    );
    let error = dsgd(Weights::Small, 0.0).run_round().unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("4 clients mix; expected a matrix of shape [4, 4]"),
        "{error}"
    );
    let ragged = Dsgd {
        lr: 0.0,
        weights: Weights::Ragged,
    };
    let error = refused(&ragged);
    assert!(
        error.contains("expected rows of 2 finite numbers, found 4 in all"),
        "{error}"
    );
}

#[test]
fn a_matrix_has_edges_in_its_wire_table() {
    let algorithm = Dsgd {
        lr: 0.0,
        weights: Weights::Doubly,
    };
    let table = graph_text(&algorithm, Stage::Wire).unwrap();
    assert!(
        table.contains("to other clients: 4eP + 4e bytes"),
        "{table}"
    );
    let regular = push_sum(PushSumTopology::Regular, 0.1);
    let table = graph_text(&regular, Stage::Wire).unwrap();
    assert!(
        table.contains("to other clients: 12P + 12 bytes"),
        "{table}"
    );
}

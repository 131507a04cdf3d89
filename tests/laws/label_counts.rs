//! Losses that know how many examples of each class a client has.

use burn::tensor::{Int, Tensor};
use fedround::Experiment;
use fedround::algorithms::FedAvg;
use fedround::models::Losses;
use fedround::prelude::*;
use fedround::simulation::CohortBatch;
use fedround::simulation::parties::{Loopback, PartyHost};
use fedround::testing::{Stage, Trained, experiment, graph_text};

use crate::common::assert_close;

/// FedLC's margins of labels. Zhang et al. 2022, "Federated Learning with Label Distribution Skew via Logits
/// Calibration", Eq. (7).
#[derive(Hyper, Debug, Clone)]
pub struct Calibrated<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `τ`.
    #[hyper(default = 1.0, range = 0.0..)]
    pub tau: f32,
    /// Whether the labels are counted by hand, in a pass over the examples.
    #[hyper(default = false)]
    pub by_hand: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Calibrated<A> {
    fn client_update(&self, k: &ClientCx, w: Params) -> Params {
        if self.by_hand {
            let (z, y) = k.collect(64, |b| (k.forward(&w, &b.x), b.y.clone()));
            k.set_state("counts", &function("counted", (&z, &y)));
        }
        self.base.client_update(k, w)
    }

    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let counts = if self.by_hand {
            k.tensor_state("counts")
        } else {
            k.label_counts()
        };
        let margin = self.tau * (-0.25 * counts.clamp(1e-8, 1e8).ln()).exp();
        let z = function("shift_columns", (&k.forward(w, &b.x), &(-margin)));
        cross_entropy(z, &b.y)
    }
}

fn counted(z: Tensor<2>, y: Tensor<1, Int>) -> Tensor<1> {
    let ([n, classes], device) = (z.dims(), z.device());
    let all = Tensor::<1, Int>::arange(0..classes as i64, &device).reshape([1, classes]);
    let equal = y.reshape([n, 1]).equal(all);
    equal.float().sum_dim(0).reshape([classes])
}

fn calibrated(tau: f32, by_hand: bool) -> Experiment {
    let base = FedAvg {
        fraction: 0.4,
        ..FedAvg::default()
    };
    let losses = Losses::default().with_function("counted", counted);
    experiment(Calibrated { base, tau, by_hand }).losses(losses)
}

fn weights(experiment: Experiment) -> Vec<f32> {
    Trained::from(experiment.run(2).unwrap()).weights
}

#[test]
fn counts_are_those_of_a_pass_over_the_examples() {
    let (counts, by_hand) = (
        weights(calibrated(1.0, false)),
        weights(calibrated(1.0, true)),
    );
    assert_close(&counts, &by_hand, 1e-6);
    let none = weights(calibrated(0.0, false));
    let far = counts.iter().zip(&none).map(|(a, b)| (a - b).abs());
    assert!(far.fold(0.0f32, f32::max) > 1e-3, "margins change nothing");
}

#[test]
fn clients_in_one_graph_have_their_own_counts() {
    let found = |batch| weights(calibrated(1.0, false).cohort_batch(batch));
    let (alone, grouped) = (found(CohortBatch::Off), found(CohortBatch::Clients(4)));
    assert_close(&grouped, &alone, 1e-5);
}

/// Sums the released counts of all clients.
#[derive(Hyper, Debug, Clone)]
pub struct Census<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Census<A> {
    fn aggregate(&self, server: &ServerCx, w_k: Clients<Params>) -> Server<Params> {
        let all = server.all_clients();
        let of_class = server.global_params().broadcast(&all);
        let of_class = of_class.map(|k, _| k.label_counts().release("counts of classes"));
        let of_class = of_class.sum();
        let (total, most) = server.run(|s| {
            let counts = s.get(&of_class);
            let total = loss("sum", &counts);
            (total, loss("least_sum", (&counts, &Scalar::from(9.0))))
        });
        server.set_state("total", &total);
        server.set_state("nine", &most);
        self.base.aggregate(server, w_k)
    }
}

#[test]
fn counts_sum_to_the_examples() {
    let base = FedAvg::default();
    let trained = Trained::from(experiment(Census { base: base.clone() }).run(1).unwrap());
    let numbers = trained.report.server_numbers();
    assert_eq!(numbers["census.total"], 400.0);
    assert!(numbers["census.nine"] > 0.0 && numbers["census.nine"] < 400.0);
    let own = || {
        experiment(Census { base: base.clone() })
            .prepare(1)
            .unwrap()
    };
    let hosts = [0, 1]
        .map(|party| -> PartyHost { own().into_party((party..20).step_by(2).collect()).unwrap() });
    let mut run = own()
        .with_parties(Box::new(Loopback::new(hosts.into())), 1)
        .unwrap();
    let parties = run.train(&mut ()).unwrap().server_numbers();
    assert_eq!(parties, numbers);
    let wire = graph_text(&Census { base: base.clone() }, Stage::Wire).unwrap();
    assert!(wire.contains("computed from local data"), "{wire}");
    assert!(wire.contains("released: counts of classes"), "{wire}");
}

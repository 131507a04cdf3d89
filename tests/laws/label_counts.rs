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

/// Balanced softmax, in docs/specs.md. Ren et al. 2020, "Balanced Meta-Softmax for Long-Tailed Visual Recognition",
/// Eq. (4).
#[derive(Hyper, Debug, Clone)]
pub struct Balanced<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Balanced<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let counts = k.label_counts().clamp(1e-8, 1e8);
        let z = function("shift_columns", (&k.forward(w, &b.x), &counts.ln()));
        cross_entropy(z, &b.y)
    }
}

/// FedRS: logits of classes that a client does not have are scaled by `α`. Li and Zhan 2021, "FedRS: Federated
/// Learning with Restricted Softmax for Label Distribution Non-IID Data", Eq. (5).
#[derive(Hyper, Debug, Clone)]
pub struct Restricted<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `α`.
    #[hyper(default = 0.5, range = 0.0..=1.0)]
    pub alpha: f32,
    /// Whether a function does it by hand.
    #[hyper(default = false)]
    pub by_hand: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Restricted<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let n = k.label_counts();
        let z = k.forward(w, &b.x);
        let z = if self.by_hand {
            function("halved", (&z, &n))
        } else {
            let zero = 0.0 * &n;
            let factors = n.select(&zero.add_scalar(1.0), &zero.add_scalar(self.alpha));
            function("scale_columns", (&z, &factors))
        };
        cross_entropy(z, &b.y)
    }
}

/// Logits of classes without examples, times one half.
fn halved(z: Tensor<2>, n: Tensor<1>) -> Tensor<2> {
    let present = n.greater_elem(0.5).float();
    z * (present * 0.5 + 0.5).unsqueeze_dim(0)
}

/// Cross-entropy of the softmax of each class's logit times its share, written with the counts themselves.
fn balanced(z: Tensor<2>, n: Tensor<1>, y: Tensor<1, Int>) -> Tensor<1> {
    let n = n.clamp(1e-8, 1e8).unsqueeze_dim(0);
    let shares = z.exp() * n;
    let all = shares.clone().sum_dim(1);
    let own = shares.gather(1, y.unsqueeze_dim(1));
    -(own / all).log().mean()
}

/// [`Balanced`], by the formula of its paper.
#[derive(Hyper, Debug, Clone)]
pub struct BalancedByHand<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for BalancedByHand<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        loss("balanced", (&k.forward(w, &b.x), &k.label_counts(), &b.y))
    }
}

fn counted(z: Tensor<2>, y: Tensor<1, Int>) -> Tensor<1> {
    let ([n, classes], device) = (z.dims(), z.device());
    let all = Tensor::<1, Int>::arange(0..classes as i64, &device).reshape([1, classes]);
    let equal = y.reshape([n, 1]).equal(all);
    equal.float().sum_dim(0).reshape([classes])
}

fn calibrated(tau: f32, by_hand: bool) -> Experiment {
    let losses = Losses::default().with_function("counted", counted);
    let base = base();
    experiment(Calibrated { base, tau, by_hand }).losses(losses)
}

fn base() -> FedAvg {
    FedAvg {
        fraction: 0.4,
        ..FedAvg::default()
    }
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

#[test]
fn balanced_softmax_and_restricted_softmax_follow_their_formulas() {
    let losses = || {
        Losses::default()
            .with("balanced", balanced)
            .with_function("halved", halved)
    };
    let of = |experiment: Experiment| weights(experiment.losses(losses()));
    let plain = of(experiment(base()));
    let restricted = |alpha, by_hand| {
        let base = base();
        of(experiment(Restricted {
            base,
            alpha,
            by_hand,
        }))
    };
    let (balanced, by_hand) = (
        of(experiment(Balanced { base: base() })),
        of(experiment(BalancedByHand { base: base() })),
    );
    assert_close(&balanced, &by_hand, 1e-5);
    assert_ne!(balanced, plain);
    let half = restricted(0.5, false);
    assert_close(&half, &restricted(0.5, true), 1e-6);
    assert_ne!(half, plain);
    assert_close(&restricted(1.0, false), &plain, 1e-6);
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

//! FedProx with μ = 0 is FedAvg, and other laws of its proximal term.

use fedround::algorithms::{FedAvg, FedProx};
use fedround::ir::fed::{HyperValue, difference};
use fedround::prelude::*;

use crate::common::weights;
use crate::common::{GREY, bits, compile, digits, distance, federation, run, simulation, trained};

fn base() -> FedAvg {
    FedAvg {
        fraction: 0.5,
        epochs: 2,
        batch: 10,
        lr: 0.1,
        ..FedAvg::default()
    }
}

fn fed_prox(mu: f32) -> FedProx {
    FedProx { base: base(), mu }
}

#[test]
fn without_its_term_it_is_fed_avg() {
    let linked = |algorithm: &dyn Algorithm| compile(algorithm, "logistic", GREY).linked().clone();
    assert_eq!(difference(&linked(&base()), &linked(&fed_prox(0.0))), None);
    assert!(difference(&linked(&base()), &linked(&fed_prox(0.1))).is_some());

    let data = digits(300, 10).train;
    for model in ["logistic", "2nn"] {
        let after = |algorithm: &dyn Algorithm| {
            bits(&trained(
                algorithm,
                model,
                federation(&data, "shards:2", 6, 3),
                3,
            ))
        };
        assert_eq!(after(&base()), after(&fed_prox(0.0)), "{model}");
        assert_ne!(after(&base()), after(&fed_prox(0.1)), "{model}");
    }
}

#[test]
fn the_first_step_of_a_client_feels_no_term() {
    // At w = wᵗ the term's gradient is zero.
    let one_step = FedAvg {
        epochs: 1,
        batch: 1000,
        ..base()
    };
    let data = digits(200, 10).train;
    let after = |algorithm: &dyn Algorithm| {
        trained(algorithm, "logistic", federation(&data, "iid", 4, 3), 1)
    };
    let plain = after(&one_step);
    let proximal = after(&FedProx {
        base: one_step.clone(),
        mu: 10.0,
    });
    assert!(distance(&plain, &proximal) < 1e-6);
}

/// A proximal term of distances, which has a kink at the received parameters: `10 ‖w − wᵗ‖₁`.
#[derive(Hyper, Debug, Clone)]
pub struct Distances<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Distances<A> {
    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        let far = (w - k.global_params()).abs();
        let ones = far.zeros_like().add_scalar(1.0);
        self.base.regularizer(k, w) + 10.0 * far.dot(&ones)
    }
}

#[test]
fn a_term_of_distances_is_felt_from_the_second_step() {
    let data = digits(200, 10).train;
    let apart = |epochs| {
        let base = FedAvg {
            epochs,
            batch: 1000,
            ..base()
        };
        let after = |algorithm: &dyn Algorithm| {
            trained(algorithm, "logistic", federation(&data, "iid", 4, 3), 1)
        };
        distance(&after(&base), &after(&Distances { base: base.clone() }))
    };
    assert!(apart(1) < 1e-6);
    assert!(apart(2) > 1e-3);
}

#[test]
fn a_larger_term_keeps_closer() {
    let data = digits(300, 10).train;
    let moved = |mu: f32| {
        let algorithm = FedProx {
            base: FedAvg {
                epochs: 5,
                ..base()
            },
            mu,
        };
        let mut simulation =
            simulation(&algorithm, "logistic", federation(&data, "shards:2", 6, 3));
        let start = weights(&simulation);
        run(&mut simulation, 1);
        distance(&start, &weights(&simulation))
    };
    let moved = [0.0, 0.01, 0.1, 1.0, 5.0].map(moved);
    assert!(moved.is_sorted_by(|near, far| near > far), "{moved:?}");
}

#[test]
fn terms_of_two_layers_add_up() {
    let data = digits(200, 10).train;
    let after = |algorithm: &dyn Algorithm| {
        trained(algorithm, "logistic", federation(&data, "iid", 4, 3), 2)
    };
    let twice = FedProx {
        base: fed_prox(0.25),
        mu: 0.5,
    };
    assert!(distance(&after(&twice), &after(&fed_prox(0.75))) < 1e-5);
}

#[test]
fn a_composition_by_text_is_the_type() {
    let registry = fedround::algorithms::registry();
    let data = digits(200, 10).train;
    let after = |algorithm: &dyn Algorithm| {
        bits(&trained(
            algorithm,
            "logistic",
            federation(&data, "iid", 4, 3),
            2,
        ))
    };
    let named = |order: &[(&str, HyperValue)]| -> BoxedAlgorithm {
        let mut algorithm = registry.parse("fedprox(fedavg)").unwrap();
        for (name, value) in order {
            fedround::set(&mut *algorithm, name, value.clone()).unwrap();
        }
        algorithm
    };
    let mut settings = [
        ("mu", HyperValue::Float(0.3)),
        ("lr", HyperValue::Float(0.1)),
        ("epochs", HyperValue::Int(2)),
        ("fraction", HyperValue::Float(0.5)),
    ];
    let expected = after(&fed_prox(0.3));
    assert_eq!(after(&named(&settings)), expected);
    // The order in which hyper-parameters are set does not matter.
    settings.reverse();
    assert_eq!(after(&named(&settings)), expected);
}

/// Clients also get another model, before that of the round or after it, and return some of it.
#[derive(Hyper, Debug, Clone)]
pub struct Beside<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// Whether the other model comes first.
    #[hyper(default = false)]
    pub first: bool,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Beside<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let (s_t, v) = (server.sample(0.5), server.initial_params(1));
        let w_k = if self.first {
            let sent = v.broadcast(&s_t).zip(&w.broadcast(&s_t));
            sent.map(|k, (v, w)| self.client_update(k, w) + 1e-3 * v)
        } else {
            let sent = w.broadcast(&s_t).zip(&v.broadcast(&s_t));
            sent.map(|k, (w, v)| self.client_update(k, w) + 1e-3 * v)
        };
        w_k.mean()
    }
}

#[test]
fn the_term_pulls_to_the_model_of_the_round_wherever_it_is_sent() {
    let data = digits(60, 1).train;
    let after = |first: bool| {
        let algorithm = FedProx {
            base: Beside {
                base: base(),
                first,
            },
            mu: 1.0,
        };
        bits(&trained(
            &algorithm,
            "logistic",
            federation(&data, "iid", 4, 3),
            2,
        ))
    };
    assert_eq!(after(true), after(false));
}

//! Networks beside the model: found by the functions that an algorithm applies, trained by it, and
//! told apart by their parts.

use fedround::algorithms::FedAvg;
use fedround::prelude::*;
use fedround::simulation::{CohortBatch, Simulation};

use crate::common::{assert_close, bits, dealt, digits, federation, leaves, run};
use crate::common::{simulation, weights};

/// ADCOL's round in short: the server trains a discriminator on representations that clients
/// release, and clients train against it.
#[derive(Hyper, Debug, Clone)]
pub struct Duel<A = FedAvg> {
    /// What trains.
    pub base: A,
    /// `μ`: weight of the term against the discriminator, whose logits it draws to zero.
    #[hyper(default = 0.01, range = 0.0..)]
    pub mu: f32,
    /// `η` of the discriminator.
    #[hyper(default = 0.1, range = 0.0..)]
    pub rate: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Duel<A> {
    fn round(&self, server: &ServerCx, w: Server<Params>) -> Server<Params> {
        let w_k = w
            .broadcast(&server.all_clients())
            .map(|k, w| self.client_update(k, w));
        let r_k = w_k.map(|k, w| {
            let r = k.apply("represent", &w, &k.batch(8).x);
            r.release("representations")
        });
        let r_k = r_k.gather();
        let id = r_k.map(|k, r| k.labels(&r)).concat();
        let (r, mean) = (r_k.concat(), self.aggregate(server, w_k));
        server.run(|s| {
            let (d, r, id) = (s.get(&w), s.get(&r).tensor(), s.get(&id));
            let g = grad(&d, |d| cross_entropy(s.apply("discriminate", d, &r), &id));
            s.get(&mean)
                .replace_parts(&["discriminator"], &(d - self.rate * g))
        })
    }

    fn regularizer(&self, _: &ClientCx, _: &Params) -> Scalar {
        0.0.into()
    }

    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let r = k.apply("represent", w, &b.x);
        let d = k.apply("discriminate", &k.global_params(), &r);
        self.base.loss(k, w, b) + self.mu * d.sq_norm()
    }
}

/// Trains the second classifier alone.
#[derive(Hyper, Debug, Clone)]
pub struct Judged<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Judged<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        cross_entropy(k.apply("judge", w, &b.x), &b.y)
    }
}

/// FedFed's distillation in short: a classifier of what a generator leaves of images.
#[derive(Hyper, Debug, Clone)]
pub struct Distil<A = FedAvg> {
    /// What trains.
    pub base: A,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Distil<A> {
    fn loss(&self, k: &ClientCx, w: &Params, b: &Batch) -> Scalar {
        let rest = &b.x - k.apply("generate", w, &b.x);
        let code = k.apply("code", w, &b.x);
        let size = 1e-3 * rest.sq_norm() + 1e-4 * code.sq_norm();
        cross_entropy(k.apply("judge", w, &rest), &b.y) + size
    }
}

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 8,
        lr: 0.1,
        ..FedAvg::default()
    }
}

fn duel(mu: f32) -> Duel {
    Duel {
        base: base(),
        mu,
        rate: 0.1,
    }
}

#[test]
fn without_its_term_a_discriminator_leaves_the_model_alone() {
    let data = digits(60, 1).train;
    let deal = || federation(&data, "iid", 3, 5);
    let (mut plain, mut beside) = (
        simulation(&base(), "2nn", deal()),
        simulation(&duel(0.0), "2nn", deal()),
    );
    let first = leaves(&beside);
    run(&mut plain, 2);
    run(&mut beside, 2);
    let (plain, after) = (leaves(&plain), leaves(&beside));
    for (plain, beside) in plain.iter().zip(&after) {
        assert_eq!(bits(plain), bits(beside));
    }
    let names = beside.parameters().unwrap();
    for (i, (name, ..)) in names.iter().enumerate().skip(plain.len()) {
        assert!(name.starts_with("discriminator."), "{name}");
        assert_ne!(bits(&after[i]), bits(&first[i]), "{name}");
    }
    // With its term the model is another one.
    let mut against = simulation(&duel(0.1), "2nn", deal());
    run(&mut against, 2);
    assert_ne!(bits(&leaves(&against)[0]), bits(&after[0]));
}

#[test]
fn a_copy_of_the_model_trains_as_the_model_does() {
    let data = digits(60, 1).train;
    let deal = || federation(&data, "iid", 3, 5);
    for model in ["2nn", "fedaa-cnn-bn"] {
        let judged = Judged { base: base() };
        let mut judged = simulation(&judged, model, deal());
        let mut plain = simulation(&base(), model, deal());
        let count = leaves(&plain).len();
        let first = leaves(&judged);
        assert!(plain.set_parameters(first[count..].to_vec()));
        run(&mut judged, 1);
        run(&mut plain, 1);
        let after = leaves(&judged);
        for (own, plain) in after[count..].iter().zip(leaves(&plain)) {
            assert_eq!(bits(own), bits(&plain), "{model}");
        }
        for (before, after) in first[..count].iter().zip(&after) {
            assert_close(after, before, 1e-6);
        }
    }
}

#[test]
fn two_networks_train_together_in_groups_as_alone() {
    let data = digits(20, 1).train;
    let parts = || vec![(0..8).collect(), (8..13).collect(), (13..20).collect()];
    let of = |group: usize| -> Simulation {
        let algorithm = Distil {
            base: FedAvg { lr: 0.01, ..base() },
        };
        simulation(&algorithm, "lenet5", dealt(&data, parts(), 3))
            .with_cohort_batch(CohortBatch::Clients(group))
    };
    let (mut alone, mut together) = (of(1), of(3));
    let first = run(&mut alone, 1).train_loss;
    run(&mut together, 1);
    assert_close(&weights(&together), &weights(&alone), 1e-4);
    let last = run(&mut alone, 1).train_loss;
    assert!(last < first, "{first} {last}");
}

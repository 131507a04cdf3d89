//! Special cases in which the baselines equal other algorithms, and the identities of their papers.

mod corrections;
mod fada;
mod fed_rep;
mod personal;

use fedround::algorithms::{
    FedAvg, FedAvgM, FedBn, FedNova, FedOpt, FedOptRule, FedProx, FedRep, FedRepPart, Moon,
    PartialFed, PartialFedOwn, PerFedAvg, PerFedAvgVariant, Scaffold, Solo,
};
use fedround::prelude::*;
use fedround::simulation::{CohortBatch, Simulation};

use crate::common::{
    COLOUR, Deal, GREY, assert_close, bits, compile, dealt, digits, federation, leaves, run,
    simulation, trained, weights,
};

const LR: f32 = 0.1;

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 10,
        lr: LR,
        ..FedAvg::default()
    }
}

fn scaffold() -> Scaffold {
    Scaffold {
        fraction: 1.0,
        ..Scaffold::default()
    }
}

fn nova() -> FedNova {
    FedNova {
        fraction: 1.0,
        ..FedNova::default()
    }
}

/// Four clients of unequal sizes.
fn ragged() -> Deal {
    let data = digits(100, 1).train;
    let parts = [0..10, 10..25, 25..60, 60..100].map(Vec::from_iter);
    dealt(&data, parts.into(), 7)
}

/// Four clients of equal sizes.
fn even() -> Deal {
    federation(&digits(80, 1).train, "shards:2", 4, 7)
}

/// The greatest difference of two weights.
fn farthest(a: &[f32], b: &[f32]) -> f32 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f32::max)
}

/// The weights after three rounds on the 2NN.
fn after(algorithm: &dyn Algorithm, federation: Deal) -> Vec<f32> {
    trained(algorithm, "2nn", federation, 3)
}

#[test]
fn terms_of_weight_zero_leave_the_base() {
    let plain = bits(&after(&base(), ragged()));
    let moon = Moon {
        base: base(),
        mu: 0.0,
        tau: 0.5,
    };
    let prox = FedProx {
        base: base(),
        mu: 0.0,
    };
    assert_eq!(bits(&after(&moon, ragged())), plain);
    assert_eq!(bits(&after(&prox, ragged())), plain);
    assert_eq!(bits(&after(&FedBn { base: base() }, ragged())), plain);
    let all_shared = PartialFed {
        base: base(),
        own: PartialFedOwn::None,
        ..PartialFed::default()
    };
    assert_eq!(bits(&after(&all_shared, ragged())), plain);
}

#[test]
fn a_server_without_memory_takes_the_mean() {
    let none = FedAvgM {
        base: base(),
        beta: 0.0,
        server_lr: 1.0,
    };
    assert_close(&after(&none, ragged()), &after(&base(), ragged()), 1e-6);
}

#[test]
fn momentum_adds_up() {
    // Clients without steps: Δ = 0, so that v decays from the first round's.
    let data = digits(80, 1).train;
    let deal = || federation(&data, "iid", 4, 7);
    let momentum = FedAvgM {
        base: base(),
        beta: 0.9,
        server_lr: 1.0,
    };
    let mut with = simulation(&momentum, "logistic", deal());
    let mut plain = simulation(&base(), "logistic", deal());
    let mut v = vec![0.0f32; weights(&with).len()];
    for _ in 0..3 {
        let w = weights(&with);
        assert!(plain.set_parameters(leaves(&with)));
        run(&mut plain, 1);
        for (v, (next, w)) in v.iter_mut().zip(weights(&plain).iter().zip(&w)) {
            *v = 0.9 * *v + (w - next);
        }
        let expected: Vec<f32> = w.iter().zip(&v).map(|(w, v)| w - v).collect();
        run(&mut with, 1);
        assert_close(&weights(&with), &expected, 1e-6);
    }
}

/// Algorithm 2 by hand: `m ← β₁ m + (1 − β₁) Δ`, `v` by the rule, `w ← w + η m / (√v + τ)`.
#[test]
fn adaptive_steps_are_those_of_their_rule() {
    let after = |rule| {
        let algorithm = FedOpt {
            base: base(),
            rule,
            server_lr: 0.01,
            beta1: 0.8,
            beta2: 0.9,
            tau: 1e-3,
        };
        let mut with = simulation(&algorithm, "logistic", even());
        let mut plain = simulation(&base(), "logistic", even());
        let mut kept = vec![(0.0f32, 0.0f32); weights(&with).len()];
        for _ in 0..4 {
            let mut expected = weights(&with);
            assert!(plain.set_parameters(leaves(&with)));
            run(&mut plain, 1);
            let next = weights(&plain).into_iter();
            for ((w, next), (m, v)) in expected.iter_mut().zip(next).zip(&mut kept) {
                let delta = next - *w;
                let square = delta * delta;
                *m = 0.8 * *m + 0.2 * delta;
                *v = match rule {
                    FedOptRule::Adagrad => *v + square,
                    FedOptRule::Adam => 0.9 * *v + 0.1 * square,
                    FedOptRule::Yogi => *v - 0.1 * square * (*v - square).signum(),
                };
                *w += 0.01 * *m / (v.sqrt() + 1e-3);
            }
            run(&mut with, 1);
            assert_close(&weights(&with), &expected, 1e-5);
        }
        weights(&with)
    };
    let rules = [FedOptRule::Adagrad, FedOptRule::Adam, FedOptRule::Yogi];
    let [adagrad, adam, yogi] = rules.map(after);
    assert!(farthest(&adagrad, &yogi) > 1e-4 && farthest(&adam, &yogi) > 1e-4);
}

#[test]
fn plug_ins_compose() {
    // A proximal term in SCAFFOLD's and FedNova's steps, momentum over either.
    for plain in [&scaffold() as &dyn Algorithm, &nova()] {
        let plain = after(plain, ragged());
        assert!(plain.iter().all(|w| w.is_finite()));
    }
    let with = |mu: f32| {
        let prox = FedProx {
            base: scaffold(),
            mu,
        };
        after(&prox, ragged())
    };
    assert_eq!(bits(&with(0.0)), bits(&after(&scaffold(), ragged())));
    assert!(farthest(&with(1.0), &with(0.0)) > 1e-4);
    let momentum = FedAvgM {
        base: FedProx {
            base: nova(),
            mu: 0.1,
        },
        beta: 0.5,
        server_lr: 1.0,
    };
    assert!(farthest(&after(&momentum, ragged()), &after(&nova(), ragged())) > 1e-4);
}

#[test]
fn groups_of_clients_are_clients_one_by_one() {
    let all: [(&str, Box<dyn Algorithm>); 8] = [
        ("scaffold", Box::new(scaffold())),
        (
            "fednova",
            Box::new(FedNova {
                momentum: 0.5,
                weight_decay: 0.01,
                ..nova()
            }),
        ),
        (
            "fedavgm",
            Box::new(FedAvgM {
                base: base(),
                beta: 0.9,
                server_lr: 1.0,
            }),
        ),
        (
            "moon",
            Box::new(Moon {
                base: base(),
                mu: 1.0,
                tau: 0.5,
            }),
        ),
        (
            "fedrep",
            Box::new(FedRep {
                fraction: 1.0,
                head_epochs: 1,
                epochs: 1,
                batch: 10,
                lr: LR,
                momentum: 0.5,
                part: FedRepPart::Head,
            }),
        ),
        (
            "partialfed",
            Box::new(PartialFed {
                base: base(),
                own: PartialFedOwn::Head,
                ..PartialFed::default()
            }),
        ),
        (
            "partialfed, adaptive",
            Box::new(PartialFed {
                base: base(),
                adaptive: true,
                ..PartialFed::default()
            }),
        ),
        (
            "per-fedavg",
            Box::new(PerFedAvg {
                fraction: 1.0,
                alpha: 0.05,
                lr: LR,
                ..PerFedAvg::default()
            }),
        ),
    ];
    for (name, algorithm) in all {
        let one_by = |clients: usize| {
            let program = compile(&*algorithm, "2nn", GREY);
            let mut simulation = ragged()
                .simulation(program, 2)
                .with_cohort_batch(CohortBatch::Clients(clients));
            run(&mut simulation, 2);
            weights(&simulation)
        };
        let (alone, together) = (one_by(1), one_by(4));
        let far = farthest(&alone, &together);
        assert!(far < 2e-5, "{name}: {far}");
    }
}

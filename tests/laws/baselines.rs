//! What the baselines reduce to, and the identities of their papers.

use fedround::algorithms::{
    FedAvg, FedAvgM, FedBn, FedNova, FedOpt, FedProx, FedRep, Moon, PartialFed, PerFedAvg,
    Scaffold, Solo,
};
use fedround::exec::{CohortBatch, Federation, Simulation};
use fedround::prelude::*;

use crate::common::{
    COLOUR, GREY, assert_close, bits, compile, dealt, digits, federation, leaves, run, simulation,
    trained, weights,
};

const LR: f32 = 0.1;

fn base() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        epochs: 1,
        batch: 10,
        lr: LR,
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
fn ragged() -> Federation {
    let data = digits(100, 1).train;
    let parts = [0..10, 10..25, 25..60, 60..100].map(Vec::from_iter);
    dealt(&data, parts.into(), 7)
}

/// Four clients of equal sizes.
fn even() -> Federation {
    federation(&digits(80, 1).train, "shards:2", 4, 7)
}

/// The greatest difference of two weights.
fn farthest(a: &[f32], b: &[f32]) -> f32 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f32::max)
}

/// The weights after three rounds on the 2NN.
fn after(algorithm: &dyn Algorithm, federation: Federation) -> Vec<f32> {
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
        own: "none".to_owned(),
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

#[test]
fn an_adaptive_step_has_the_size_of_the_rate() {
    // In the first round m = (1 − β₁) Δ and v = (1 − β₂) Δ² for adam and yogi, Δ² for adagrad, so
    // that with τ = 0 every moved weight moves by η (1 − β₁) / √(1 − β₂), and by η (1 − β₁).
    for (rule, size) in [("adam", 1.0), ("yogi", 1.0), ("adagrad", 0.1)] {
        let algorithm = FedOpt {
            base: base(),
            rule: rule.to_owned(),
            server_lr: 0.01,
            beta1: 0.9,
            beta2: 0.99,
            tau: 1e-12,
        };
        let mut simulation = simulation(&algorithm, "logistic", even());
        let before = weights(&simulation);
        run(&mut simulation, 1);
        let after = weights(&simulation);
        let moves = before.iter().zip(&after).map(|(a, b)| (a - b).abs());
        let moved: Vec<f32> = moves.filter(|m| *m > 1e-5).collect();
        assert!(moved.len() > 1000, "{rule}: {}", moved.len());
        let expected = vec![0.01 * size; moved.len()];
        assert_close(&moved, &expected, 2e-4);
    }
}

#[test]
fn one_client_has_no_drift_to_correct() {
    let data = digits(60, 1).train;
    let one = || dealt(&data, vec![(0..60).collect()], 3);
    let plain = after(&base(), one());
    for option in [1, 2] {
        let scaffold = Scaffold {
            option,
            ..scaffold()
        };
        // With one client c = c_1 in every round.
        assert_close(&after(&scaffold, one()), &plain, 1e-5);
    }
    assert_close(&after(&nova(), one()), &plain, 1e-5);
}

#[test]
fn the_first_round_of_scaffold_is_the_plain_mean() {
    let mut with = simulation(&scaffold(), "2nn", even());
    let mut plain = simulation(&base(), "2nn", even());
    run(&mut with, 1);
    run(&mut plain, 1);
    assert_close(&weights(&with), &weights(&plain), 1e-6);
    // And later ones are not.
    run(&mut with, 1);
    run(&mut plain, 1);
    let far = farthest(&weights(&with), &weights(&plain));
    assert!(far > 1e-4, "{far}");
}

#[test]
fn variates_of_clients_add_up_to_the_servers() {
    for fraction in [1.0, 0.5] {
        for option in [1, 2] {
            let scaffold = Scaffold {
                fraction,
                option,
                ..scaffold()
            };
            let mut simulation = simulation(&scaffold, "logistic", even());
            run(&mut simulation, 4);
            let server = simulation.server_state("scaffold.c").unwrap().concat();
            let mut mean = vec![0.0f32; server.len()];
            for k in 0..4 {
                let own = simulation.client_state(k, "scaffold.c_k");
                let own = own.map_or_else(|| vec![0.0; mean.len()], |own| own.concat());
                mean.iter_mut().zip(own).for_each(|(m, c)| *m += c / 4.0);
            }
            assert_close(&server, &mean, 1e-5);
        }
    }
}

#[test]
fn a_variate_is_the_mean_gradient_of_the_round() {
    // Option II: c_k⁺ = c_k − c + (x − y)/(τ η), the mean of the τ gradients. In the first round
    // c = c_k = 0, so that x − y = τ η c_k⁺.
    let data = digits(30, 1).train;
    let one = || dealt(&data, vec![(0..30).collect()], 3);
    let mut simulation = simulation(&scaffold(), "logistic", one());
    let before = weights(&simulation);
    run(&mut simulation, 1);
    let c_k = simulation.client_state(0, "scaffold.c_k").unwrap().concat();
    let expected: Vec<f32> = before
        .iter()
        .zip(&c_k)
        .map(|(x, c)| x - 3.0 * LR * c)
        .collect();
    assert_close(&weights(&simulation), &expected, 1e-6);
}

#[test]
fn equal_steps_make_nova_the_mean() {
    assert_close(&after(&nova(), even()), &after(&base(), even()), 1e-5);
    // Of unequal steps it is not: clients with few steps count for more.
    let (nova, plain) = (after(&nova(), ragged()), after(&base(), ragged()));
    let far = farthest(&nova, &plain);
    assert!(far > 1e-4, "{far}");
    let prox = FedProx {
        base: base(),
        mu: 0.5,
    };
    let nova = FedNova {
        mu: 0.5,
        ..self::nova()
    };
    assert_close(&after(&nova, even()), &after(&prox, even()), 1e-5);
}

#[test]
fn a_first_contrast_is_the_same_for_both_models() {
    // In a client's first round its last model is the global one: ℓ_con = ln 2, without slope.
    let moon = Moon {
        base: base(),
        mu: 5.0,
        tau: 0.5,
    };
    let (mut with, mut plain) = (
        simulation(&moon, "2nn", even()),
        simulation(&base(), "2nn", even()),
    );
    let (with_loss, plain_loss) = (run(&mut with, 1).train_loss, run(&mut plain, 1).train_loss);
    assert_close(&weights(&with), &weights(&plain), 1e-5);
    let gap = with_loss - plain_loss - 5.0 * std::f64::consts::LN_2;
    assert!(gap.abs() < 1e-4, "{gap}");
    run(&mut with, 1);
    run(&mut plain, 1);
    let far = farthest(&weights(&with), &weights(&plain));
    assert!(far > 1e-4, "{far}");
}

#[test]
fn no_inner_step_is_the_mean() {
    for variant in ["first-order", "hessian-free", "exact"] {
        let per = PerFedAvg {
            fraction: 1.0,
            alpha: 0.0,
            lr: LR,
            variant: variant.to_owned(),
            ..PerFedAvg::default()
        };
        assert_close(&after(&per, even()), &after(&base(), even()), 1e-5);
    }
}

#[test]
fn a_difference_of_gradients_is_the_hessians_product() {
    let step = |variant: &str| {
        let per = PerFedAvg {
            fraction: 1.0,
            alpha: 0.1,
            lr: 0.5,
            variant: variant.to_owned(),
            ..PerFedAvg::default()
        };
        trained(&per, "logistic", even(), 2)
    };
    let (exact, free, first) = (step("exact"), step("hessian-free"), step("first-order"));
    assert_close(&free, &exact, 1e-4);
    let far = farthest(&first, &exact);
    assert!(far > 5e-4, "the Hessian does nothing: {far}");
}

#[test]
fn heads_and_bodies_take_turns() {
    let rep = FedRep {
        fraction: 1.0,
        head_epochs: 2,
        epochs: 1,
        batch: 10,
        lr: LR,
    };
    let mut simulation = simulation(&rep, "2nn", even());
    let names: Vec<String> = simulation
        .parameters()
        .into_iter()
        .map(|(n, ..)| n)
        .collect();
    let before = leaves(&simulation);
    run(&mut simulation, 2);
    for ((name, old), new) in names.iter().zip(&before).zip(&leaves(&simulation)) {
        // The head on the server is the one that it began with.
        assert_eq!(old == new, name.starts_with("head"), "{name}");
    }
    let own = |k: usize| simulation.client_state(k, "fed_rep.head").unwrap();
    assert_ne!(own(0), own(1));
}

#[test]
fn all_of_ones_own_is_training_alone() {
    let alone = PartialFed {
        base: base(),
        own: "all".to_owned(),
    };
    let solo = Solo {
        epochs: 1,
        batch: 10,
        lr: LR,
    };
    let (mut alone, mut solo) = (
        simulation(&alone, "2nn", even()),
        simulation(&solo, "2nn", even()),
    );
    run(&mut alone, 3);
    let stats = run(&mut solo, 3);
    for k in 0..4 {
        assert_eq!(
            alone.client_state(k, "partial_fed.own"),
            solo.client_state(k, "solo.own")
        );
    }
    assert_eq!((stats.bytes_up, stats.bytes_down), (0, 0));
}

#[test]
fn who_is_not_drawn_keeps_its_state() {
    let scaffold = Scaffold {
        fraction: 0.25,
        ..scaffold()
    };
    let mut simulation = simulation(&scaffold, "logistic", even());
    let states = |s: &Simulation| {
        (0..4)
            .map(|k| s.client_state(k, "scaffold.c_k"))
            .collect::<Vec<_>>()
    };
    let mut last = states(&simulation);
    for _ in 0..5 {
        run(&mut simulation, 1);
        let now = states(&simulation);
        let changed = last.iter().zip(&now).filter(|(a, b)| a != b).count();
        assert_eq!(changed, 1);
        last = now;
    }
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
    let all: [(&str, Box<dyn Algorithm>); 7] = [
        ("scaffold", Box::new(scaffold())),
        (
            "fednova",
            Box::new(FedNova {
                momentum: 0.5,
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
            }),
        ),
        (
            "partialfed",
            Box::new(PartialFed {
                base: base(),
                own: "head".to_owned(),
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
            let mut simulation = Simulation::new(program, ragged(), 2)
                .unwrap()
                .with_cohort_batch(CohortBatch::Clients(clients));
            run(&mut simulation, 2);
            weights(&simulation)
        };
        let (alone, together) = (one_by(1), one_by(4));
        let far = farthest(&alone, &together);
        assert!(far < 2e-5, "{name}: {far}");
    }
}

#[test]
fn only_shared_parts_cross() {
    let rep = FedRep {
        fraction: 1.0,
        head_epochs: 1,
        ..FedRep::default()
    };
    // The 2NN without its head, 200 x 10 + 10, and a count of examples.
    let shared = 4 * 4 * (199_210 - 2_010);
    let stats = run(&mut simulation(&rep, "2nn", even()), 1);
    assert_eq!((stats.bytes_down, stats.bytes_up), (shared, shared + 16));
    let plain = run(&mut simulation(&base(), "2nn", even()), 1);
    assert_eq!(plain.bytes_down, 4 * 4 * 199_210);
}

#[test]
fn clients_are_tested_on_their_own_models() {
    let data = digits(200, 60);
    let deal = || federation(&data.train, "shards:2", 4, 7);
    let own = |algorithm: &dyn Algorithm, rounds: usize| {
        let mut simulation = simulation(algorithm, "2nn", deal());
        run(&mut simulation, rounds);
        let before = weights(&simulation);
        let simulation = simulation.with_personal(algorithm).unwrap();
        let models = simulation.personal_models().unwrap();
        assert_eq!(bits(&weights(&simulation)), bits(&before));
        (simulation, models)
    };
    // All of FedAvg's clients use the global model.
    assert!(own(&base(), 1).1.is_none());
    let solo = Solo {
        epochs: 3,
        batch: 10,
        lr: LR,
    };
    let (simulation, models) = own(&solo, 6);
    let (models, parts) = (models.unwrap(), deal().parts);
    let global = simulation.evaluate(&data.train).unwrap().accuracy;
    for (k, part) in parts.iter().enumerate() {
        let own = data.train.subset(part);
        let tested = simulation.evaluate_client(&models, k, &own).unwrap();
        let accuracy = tested.unwrap().accuracy;
        assert!(
            accuracy > global + 0.3,
            "client {k}: {accuracy}, global {global}"
        );
    }
    let nobody = simulation.evaluate_client(&models, 4, &data.test);
    assert!(nobody.unwrap().is_none());
    // One step of size 0 leaves the global model as it is.
    let none = PerFedAvg {
        fraction: 1.0,
        alpha: 0.0,
        ..PerFedAvg::default()
    };
    let (simulation, models) = own(&none, 1);
    let tested = simulation.evaluate_client(&models.unwrap(), 2, &data.test);
    let global = simulation.evaluate(&data.test).unwrap();
    assert_eq!(tested.unwrap().unwrap().loss, global.loss);
}

#[test]
fn a_model_without_the_layers_says_so() {
    let bn = FedBn { base: base() };
    let warnings = |model: &str, task| compile(&bn, model, task).warnings().join("\n");
    let found = warnings("2nn", GREY);
    assert!(
        found.contains("model 2nn has no layer `BatchNorm`"),
        "{found}"
    );
    assert_eq!(warnings("resnet18", COLOUR), "");
}

#[test]
fn normalisation_differs_between_clients_and_does_not_cross() {
    let data = fedround::data::synth::SynthDigits {
        train: 16,
        test: 1,
        ..Default::default()
    };
    let grey = data.generate().train;
    let bn = FedBn {
        base: FedAvg { batch: 4, ..base() },
    };
    let deal = || dealt(&grey, vec![(0..8).collect(), (8..16).collect()], 3);
    let new = |algorithm: &dyn Algorithm| {
        let device = Default::default();
        let small = fedround::models::ResNetConfig {
            width: 2,
            ..fedround::models::ResNetConfig::resnet18()
        };
        let model = small.init(GREY, &device);
        let program = crate::common::compile_model(algorithm, "tiny", Box::new(model), GREY);
        Simulation::new(program, deal(), 2).unwrap()
    };
    let (mut own, mut shared) = (new(&bn), new(&bn.base));
    let names: Vec<String> = own.parameters().into_iter().map(|(n, ..)| n).collect();
    let before = leaves(&own);
    let (own_bytes, shared_bytes) = (run(&mut own, 1).bytes_down, run(&mut shared, 1).bytes_down);
    assert!(own_bytes < shared_bytes);
    for ((name, old), new) in names.iter().zip(&before).zip(&leaves(&own)) {
        // On the server, normalisation is what it was; the rest is trained.
        assert_eq!(old == new, name.contains("norm"), "{name}");
    }
    let kept = |k: usize| own.client_state(k, "fed_bn.BatchNorm").unwrap();
    let norm = names.iter().position(|n| n.contains("norm")).unwrap();
    assert_ne!(kept(0)[norm], kept(1)[norm]);
}

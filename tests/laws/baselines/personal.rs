//! Methods with parameters of a client's own: FedBN, PartialFed, Solo.

use super::*;

#[test]
fn all_of_ones_own_is_training_alone() {
    let alone = PartialFed {
        base: base(),
        own: PartialFedOwn::All,
        ..PartialFed::default()
    };
    let solo = Solo {
        epochs: 1,
        batch: 10,
        lr: LR,
        ..Solo::default()
    };
    let (mut alone, mut solo) = (
        simulation(&alone, "2nn", even()),
        simulation(&solo, "2nn", even()),
    );
    run(&mut alone, 3);
    let stats = run(&mut solo, 3);
    for k in 0..4 {
        assert_eq!(
            alone.client_state(k, "partialfed.own").unwrap(),
            solo.client_state(k, "solo.own").unwrap()
        );
    }
    assert_eq!((stats.bytes_up, stats.bytes_down), (0, 0));
}

#[test]
fn alone_one_takes_the_steps_of_fed_avg_with_one_client() {
    let data = || {
        let mut deal = even();
        deal.dataset.client_indices.truncate(1);
        deal
    };
    let plain = FedAvg {
        fraction: 1.0,
        momentum: 0.9,
        weight_decay: 0.01,
        ..base()
    };
    let solo = Solo {
        epochs: 1,
        batch: 10,
        lr: LR,
        momentum: 0.9,
        weight_decay: 0.01,
    };
    let (mut alone, mut plain) = (
        simulation(&solo, "2nn", data()),
        simulation(&plain, "2nn", data()),
    );
    run(&mut alone, 2);
    run(&mut plain, 2);
    let own = alone.client_state(0, "solo.own").unwrap().unwrap().concat();
    assert_eq!(bits(&own), bits(&weights(&plain)));
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
            .map(|k| s.client_state(k, "scaffold.c_k").unwrap())
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
        ..Solo::default()
    };
    let (simulation, models) = own(&solo, 6);
    let (models, parts) = (models.unwrap(), deal().dataset.client_indices);
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
    let warnings = |model: &str, task| {
        let program = compile(&bn, model, task);
        let all = program.warnings().iter().map(ToString::to_string);
        all.collect::<Vec<_>>().join("\n")
    };
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
        deal().simulation(program, 2)
    };
    let (mut own, mut shared) = (new(&bn), new(&bn.base));
    let names: Vec<String> = own
        .parameters()
        .unwrap()
        .into_iter()
        .map(|(n, ..)| n)
        .collect();
    let before = leaves(&own);
    let (own_bytes, shared_bytes) = (run(&mut own, 1).bytes_down, run(&mut shared, 1).bytes_down);
    assert!(own_bytes < shared_bytes);
    for ((name, old), new) in names.iter().zip(&before).zip(&leaves(&own)) {
        // On the server, normalisation is what it was; the rest is trained.
        assert_eq!(old == new, name.contains("norm"), "{name}");
    }
    let kept = |k: usize| own.client_state(k, "fedbn.BatchNorm").unwrap().unwrap();
    let norm = names.iter().position(|n| n.contains("norm")).unwrap();
    assert_ne!(kept(0)[norm], kept(1)[norm]);
}

/// Logits of a linear model are linear in its parameters, so that the mean of the clients' logits is
/// what the mean of their parameters gives.
#[test]
fn linear_models_together_are_their_mean() {
    let data = digits(120, 60);
    let deal = || federation(&data.train, "iid", 3, 7);
    let solo = Solo {
        epochs: 1,
        batch: 10,
        lr: LR,
        ..Solo::default()
    };
    let mut alone = simulation(&solo, "logistic", deal());
    run(&mut alone, 1);
    let alone = alone.with_personal(&solo).unwrap();
    let models = alone.personal_models().unwrap().unwrap();
    let together = alone.evaluate_ensemble(&models, &data.test).unwrap();
    let mut averaged = simulation(&base(), "logistic", deal());
    run(&mut averaged, 1);
    let averaged = averaged.evaluate(&data.test).unwrap();
    assert!((together.loss - averaged.loss).abs() < 1e-6);
    assert_eq!(together.predictions, averaged.predictions);
    let one = alone.evaluate_client(&models, 0, &data.test).unwrap();
    assert!((together.loss - one.unwrap().loss).abs() > 1e-3);
}

fn adaptive(lr: f32, gate_lr: f32) -> PartialFed {
    PartialFed {
        base: FedAvg {
            batch: 1000,
            lr,
            ..base()
        },
        adaptive: true,
        gate_lr,
        ..PartialFed::default()
    }
}

#[test]
fn alone_whatever_layers_are_loaded_are_the_clients_own() {
    let one = || dealt(&digits(40, 1).train, vec![(0..40).collect()], 7);
    let plain = after(&adaptive(LR, 0.0).base, one());
    assert_close(&after(&adaptive(LR, 0.5), one()), &plain, 1e-5);
}

/// Clients that begin with one model and are sent another.
fn sent_another(algorithm: &PartialFed, rounds: usize) -> (Simulation, [Vec<Vec<f32>>; 2]) {
    let mut simulation = simulation(algorithm, "2nn", ragged());
    run(&mut simulation, 1);
    let first = leaves(&simulation);
    let other = first
        .iter()
        .map(|leaf| leaf.iter().rev().map(|x| x + 0.25).collect());
    let other: Vec<Vec<f32>> = other.collect();
    for _ in 0..rounds {
        assert!(simulation.set_parameters(other.clone()));
        run(&mut simulation, 1);
    }
    (simulation, [first, other])
}

#[test]
fn layers_are_loaded_whole() {
    let (simulation, [first, other]) = sent_another(&adaptive(0.0, 0.0), 1);
    let mut choices = vec![];
    for client in 0..4 {
        let own = simulation
            .client_state(client, "partialfed.own")
            .unwrap()
            .unwrap();
        let loaded = own
            .iter()
            .zip(first.iter().zip(&other))
            .map(|(own, (first, other))| {
                assert!(own == first || own == other);
                own == other
            });
        let loaded: Vec<bool> = loaded.collect();
        // Weight and bias of three layers.
        assert!(
            loaded.chunks(2).all(|layer| layer[0] == layer[1]),
            "{loaded:?}"
        );
        choices.extend(loaded.chunks(2).map(|layer| layer[0]));
    }
    // Twelve layers, each by the flip of a coin.
    let loaded = choices.iter().filter(|loaded| **loaded).count();
    assert!((2..=10).contains(&loaded), "{choices:?}");
}

#[test]
fn what_harms_a_client_is_loaded_less_often() {
    let (simulation, _) = sent_another(&adaptive(LR, 0.5), 4);
    for client in 0..4 {
        let s = simulation
            .client_state(client, "partialfed.s")
            .unwrap()
            .unwrap();
        // One value in each layer.
        assert!(s.iter().all(|leaf| leaf.iter().all(|x| *x == leaf[0])));
        let gates: Vec<f32> = s.iter().step_by(2).map(|leaf| leaf[0]).collect();
        assert!(gates.iter().sum::<f32>() < 0.0, "{gates:?}");
    }
}

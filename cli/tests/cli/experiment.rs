//! The library's experiment and the command give the same numbers, bit for bit.

use fedround::algorithms::{Centralized, FedAvg, FedProx};
use fedround::experiment::Report;
use fedround::{Algorithm, Experiment};
use safetensors::SafeTensors;
use serde_json::json;

use crate::support::Place;

/// Trains three rounds of a few drawn digits by a call of the library.
fn called(algorithm: impl Algorithm) -> Report {
    let experiment = Experiment::new(algorithm).model("logistic").clients(20);
    experiment.seed(3).eval_every(2).run(3).unwrap()
}

/// Checks that `fedround run` with the same settings gives the same rounds and the same parameters.
fn assert_equal(spec: &str, report: &Report) {
    let place = Place::new();
    place.success(&format!(
        "run {spec} --model logistic --clients 20 --seed 3 --eval-every 2 --rounds 3 --quiet --out out"
    ));
    let lines = place.text("out/metrics.jsonl");
    assert_eq!(lines.lines().count(), report.history.len());
    for (line, round) in lines.lines().zip(&report.history) {
        let scores = round.scores.as_ref();
        let local = scores.and_then(|s| s.local);
        // As text, because a parsed number may differ from the written one in its last bit.
        for (key, value) in [
            ("round", json!(round.number)),
            ("train_loss", json!(round.train_loss)),
            ("test_loss", json!(scores.map(|s| s.loss))),
            ("test_accuracy", json!(scores.map(|s| s.accuracy))),
            ("local_accuracy", json!(local)),
            ("bytes_up", json!(round.bytes_up)),
            ("bytes_down", json!(round.bytes_down)),
        ] {
            let expected = format!("\"{key}\":{value}");
            assert!(line.contains(&expected), "expected {expected} in {line}");
        }
    }
    let model = place.read("out/model.safetensors");
    let model = SafeTensors::deserialize(&model).unwrap();
    assert_eq!(model.len(), report.parameters.len());
    for (name, _, values) in &report.parameters {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(model.tensor(name).unwrap().data(), bytes, "{name}");
    }
}

#[test]
fn an_experiment_is_the_commands_run() {
    assert_equal("fedprox", &called(FedProx::<FedAvg>::default()));
}

#[test]
fn a_seed_of_the_partition_alone_deals_the_same_clients_for_every_seed() {
    let clients = |seed: u64, partition: Option<u64>| {
        let experiment = Experiment::new(FedAvg::default()).model("logistic");
        let experiment = experiment.clients(20).validation(0.1).seed(seed);
        let experiment = match partition {
            Some(seed) => experiment.partition_seed(seed),
            None => experiment,
        };
        let run = experiment.prepare(1).unwrap();
        run.simulation().dataset().client_indices.clone()
    };
    let own = clients(3, None);
    assert_eq!(own, clients(3, Some(3)));
    assert_eq!(own, clients(4, Some(3)));
    assert_ne!(own, clients(4, None));
}

/// The command has the switch, and writes it where it is given.
#[test]
fn the_seed_of_the_partition_is_a_setting_of_runs() {
    let place = Place::new();
    let digits = |seed: &str, out: &str| {
        place.success(&format!(
            "run fedavg --model logistic --clients 20 --rounds 1 {seed} --quiet --out {out}"
        ));
        let config = place.text(&format!("{out}/config.toml"));
        (place.read(&format!("{out}/model.safetensors")), config)
    };
    let (alone, config) = digits("--seed 3", "a");
    assert!(!config.contains("partition_seed"), "{config}");
    let (same, config) = digits("--seed 3 --partition-seed 3", "b");
    assert!(config.contains("partition_seed = 3"), "{config}");
    assert!(alone == same);
    assert!(alone != digits("--seed 3 --partition-seed 4", "c").0);
}

/// Centralised training has the examples of all clients in one place, in the library as in the command.
#[test]
fn centralised_training_pools_the_examples_in_the_library_too() {
    let report = called(Centralized::default());
    // 10,000 drawn digits in batches of 64.
    assert_eq!(report.history[0].client_steps, 10_000_u64.div_ceil(64));
    assert_equal("centralized", &report);
}

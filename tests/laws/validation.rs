//! Examples that clients hold back: choices are made on them, and never on the test set.

use fedround::Experiment;
use fedround::algorithms::{FedAvg, FedRep};
use fedround::data::Partition;
use fedround::experiment::{ExperimentError, Keep, Report, Settings};
use fedround::prelude::*;

use crate::common::{bits, digits};

fn experiment(algorithm: impl Algorithm) -> Experiment {
    let settings = Settings {
        clients: 6,
        partition: Partition::Shards { per_client: 4 },
        eval_every: 2,
        threads: 2,
        ..Settings::default()
    };
    Experiment::new(algorithm)
        .model("logistic")
        .data(digits(150, 40))
        .settings(settings)
}

fn wild() -> FedAvg {
    FedAvg {
        fraction: 0.5,
        batch: 5,
        lr: 1.5,
        ..FedAvg::default()
    }
}

fn parameters(all: &[(String, impl Sized, Vec<f32>)]) -> Vec<u32> {
    bits(&all.iter().flat_map(|(.., v)| v.clone()).collect::<Vec<_>>())
}

/// Rounds and validation accuracies of the evaluations.
fn validated(report: &Report) -> Vec<(usize, f64)> {
    let rounds = report.history.iter();
    let found = rounds.filter_map(|r| Some((r.number, r.validation_accuracy?)));
    found.collect()
}

#[test]
fn the_best_model_is_that_of_the_best_validation_accuracy() {
    let all = experiment(wild())
        .validation(0.2)
        .keep(Keep::Both)
        .run(12)
        .unwrap();
    let best = all.best.clone().unwrap();
    let found = validated(&all);
    assert_eq!(found.len(), 6);
    let most = found.iter().map(|(_, a)| *a).fold(0.0, f64::max);
    let first = found.iter().find(|(_, a)| *a == most).unwrap();
    assert_eq!((best.round, best.validation_accuracy), *first);
    assert!(best.round < 12, "the last round is the best one: {found:?}");
    // It is what a run of as many rounds ends with.
    let short = experiment(wild()).validation(0.2).run(best.round).unwrap();
    assert_eq!(parameters(&best.parameters), parameters(&short.parameters));
    assert_ne!(parameters(&best.parameters), parameters(&all.parameters));
    // Without a wish for it, no copy is kept; the last model is the same.
    let last = experiment(wild()).validation(0.2).run(12).unwrap();
    assert!(last.best.unwrap().parameters.is_empty());
    assert_eq!(parameters(&last.parameters), parameters(&all.parameters));
}

#[test]
fn held_back_examples_are_not_trained_on() {
    let run = experiment(FedAvg::default()).validation(0.2).prepare(1);
    let run = run.unwrap();
    let trained = &run.simulation().dataset().client_indices;
    let all = experiment(FedAvg::default()).prepare(1).unwrap();
    for (k, own) in all.simulation().dataset().client_indices.iter().enumerate() {
        let held = (own.len() as f64 * 0.2).round() as usize;
        assert_eq!(trained[k].len(), own.len() - held);
        assert!(trained[k].iter().all(|i| own.contains(i)));
    }
}

#[test]
fn without_them_nothing_is_chosen() {
    let report = experiment(wild()).run(4).unwrap();
    assert!(report.best.is_none());
    assert!(validated(&report).is_empty());
    let error = experiment(wild()).keep(Keep::Best).run(4).unwrap_err();
    assert!(matches!(error, ExperimentError::NoChoice { .. }), "{error}");
    for fraction in [0.0, 1.0, f64::NAN, -0.5] {
        let error = experiment(wild()).validation(fraction).run(4).unwrap_err();
        assert!(
            matches!(error, ExperimentError::Validation { .. }),
            "{error}"
        );
    }
}

#[test]
fn the_goal_is_reached_on_validation_examples() {
    let free = experiment(wild()).validation(0.3).run(12).unwrap();
    let found = validated(&free);
    let (round, goal) = found[1];
    let expected = found.iter().find(|(_, a)| *a >= goal).map(|(r, _)| *r);
    let ended = experiment(wild()).validation(0.3).goal(goal).run(12);
    let ended = ended.unwrap();
    assert_eq!(ended.goal_round, expected);
    assert!(ended.rounds() <= round);
}

#[test]
fn personal_models_are_validated_where_there_are_some() {
    let rep = FedRep {
        fraction: 1.0,
        batch: 5,
        ..FedRep::default()
    };
    let mut run = experiment(rep).validation(0.3).prepare(4).unwrap();
    let report = run.train(&mut ()).unwrap();
    let simulation = run.simulation();
    let models = simulation.personal_models().unwrap().unwrap();
    let all = experiment(FedAvg::default()).prepare(1).unwrap();
    let all = &all.simulation().dataset().client_indices;
    let trained = &simulation.dataset().client_indices;
    let mut sum = 0.0;
    for k in 0..6 {
        let held = all[k].iter().filter(|i| !trained[k].contains(i));
        let held: Vec<usize> = held.copied().collect();
        let examples = simulation.dataset().examples.subset(&held);
        let tested = simulation.evaluate_client(&models, k, &examples).unwrap();
        sum += tested.unwrap().accuracy / 6.0;
    }
    let found = validated(&report).last().unwrap().1;
    assert!((found - sum).abs() < 1e-12, "{found}, not {sum}");
}

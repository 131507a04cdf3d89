//! The area under the ROC curve, of models of two classes.

use std::ops::Range;

use fedround::Experiment;
use fedround::algorithms::{FedAvg, Solo};
use fedround::data::partition::{Rotation, Split};
use fedround::data::{Dataset, Examples, Scale};
use fedround::experiment::{Report, Run};
use fedround::prelude::*;
use fedround::simulation::RunError;

/// Images of four pixels whose brightness tells little of their class.
fn images(examples: usize, classes: usize) -> Examples {
    let labels: Vec<u16> = (0..examples).map(|i| (i % 5 % classes) as u16).collect();
    let bytes = (0..4 * examples).map(|i| (i * i * 37 % 101 + 9 * (i / 4 % 5 % classes)) as u8);
    Examples::new([1, 2, 2], bytes.collect(), labels, Scale::Unit).unwrap()
}

/// Two clients whose tests have all classes, one of whom has rotated images, and one with a single test.
fn trained(algorithm: impl Algorithm, classes: usize) -> (Run, Report) {
    let names = ["no", "yes", "maybe"].into_iter().take(classes);
    let data = Dataset::new("few", images(60, classes), images(21, classes), names);
    let split = |train: Range<usize>, test: Range<usize>, rotation| Split {
        train: train.collect(),
        test: test.collect(),
        rotation,
        ..Split::default()
    };
    let splits = vec![
        split(0..20, 0..9, None),
        split(20..40, 9..18, Rotation::degrees(180)),
        split(40..60, 18..19, None),
    ];
    let experiment = Experiment::new(algorithm).model("logistic").data(data);
    let mut run = experiment.splits(splits).threads(1).prepare(2).unwrap();
    let report = run.train(&mut ()).unwrap();
    (run, report)
}

/// The share of pairs of a positive and a negative example in which the positive one has the higher score.
fn share_of_pairs(scores: &[f64], labels: &[u16]) -> f64 {
    let of = |label| move |(_, l): &(&f64, &u16)| **l == label;
    let all = || scores.iter().zip(labels);
    let (mut won, mut pairs) = (0.0, 0.0);
    for (positive, _) in all().filter(of(1)) {
        for (negative, _) in all().filter(of(0)) {
            won += f64::from(u8::from(positive > negative))
                + 0.5 * f64::from(u8::from(positive == negative));
            pairs += 1.0;
        }
    }
    won / pairs
}

#[test]
fn it_is_the_share_of_pairs_that_the_servers_model_orders_rightly() {
    let (run, report) = trained(FedAvg::default(), 2);
    let scores = report.scores.unwrap();
    let test = &run.data().test;
    let second = |examples: &Examples| -> Vec<f64> {
        let rows = run.predict(examples).unwrap();
        rows.iter().map(|row| row[1]).collect()
    };
    let expected = share_of_pairs(&second(test), test.labels());
    let found = scores.auc.unwrap();
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    assert!((0.01..0.99).contains(&found), "{found} tells little");

    let part = |own: Range<usize>| test.subset(&own.collect::<Vec<_>>());
    let (first, all) = (part(0..9), (0..9).collect::<Vec<_>>());
    let half_turn = Rotation::degrees(180).unwrap();
    let turned = half_turn.turned(&part(9..18), &all).unwrap();
    let own = [first, turned].map(|own| share_of_pairs(&second(&own), own.labels()));
    let local = scores.local_auc.unwrap();
    assert_eq!(local.clients, 2, "a test of one class has no curve");
    assert!((local.mean - (own[0] + own[1]) / 2.0).abs() < 1e-12);
    assert!((local.min - own[0].min(own[1])).abs() < 1e-12);
    // Every client has an accuracy.
    assert_eq!(scores.local.unwrap().clients, 3);
}

#[test]
fn clients_are_measured_with_their_own_models() {
    let (run, report) = trained(Solo::default(), 2);
    let local = report.scores.unwrap().local_auc.unwrap();
    let test = &run.data().test;
    let first = test.subset(&(0..9).collect::<Vec<_>>());
    let mut found = None;
    let simulation = run.simulation();
    simulation
        .visit_personal_models::<RunError>(|models| {
            if let Some(tested) = simulation.evaluate_client(models, 0, &first)? {
                let scores: Vec<f64> = tested.margins.iter().map(|z| f64::from(*z)).collect();
                found = Some(share_of_pairs(&scores, first.labels()));
            }
            Ok(())
        })
        .unwrap();
    let (first, second) = (found.unwrap(), 2.0 * local.mean - found.unwrap());
    assert_eq!(local.clients, 2);
    assert!((local.min - first.min(second)).abs() < 1e-12);
    assert!((local.std - (first - second).abs() / 2.0).abs() < 1e-12);
}

#[test]
fn there_is_none_for_more_classes() {
    let (_, report) = trained(FedAvg::default(), 3);
    let scores = report.scores.unwrap();
    assert_eq!((scores.auc, scores.local_auc), (None, None));
}

//! Weights by the classes that clients have in common.

use fedround::algorithms::LabelOverlap;

use super::*;

/// Clients with the given classes, each as often.
fn of_classes(classes: &[&[u16]]) -> Deal {
    let data = digits(200, 1).train;
    let mut used = [false; 200];
    let mut take = |class: u16| {
        let i = (0..200)
            .find(|&i| !used[i] && data.labels()[i] == class)
            .unwrap();
        used[i] = true;
        i
    };
    let parts = classes
        .iter()
        .map(|own| own.iter().map(|c| take(*c)).collect());
    let parts = parts.collect();
    dealt(&data, parts, 7)
}

#[test]
fn models_weigh_by_the_classes_in_common() {
    let classes: [&[u16]; 3] = [&[0, 1, 2], &[1, 2, 3], &[2, 9]];
    // 2 + 1, 2 + 1 and 1 + 1 of them.
    let weights = [3.0, 3.0, 2.0];
    let base = full_batch();
    let mut simulation = simulation(
        &LabelOverlap { base: base.clone() },
        "logistic",
        of_classes(&classes),
    );
    let stats = run(&mut simulation, 1);
    let alone = |k: usize| {
        let mut deal = of_classes(&classes);
        deal.dataset.client_indices = vec![deal.dataset.client_indices[k].clone()];
        trained(&base, "logistic", deal, 1)
    };
    let models = [0, 1, 2].map(alone);
    let mean = |i: usize| (0..3).map(|k| weights[k] / 8.0 * models[k][i]).sum::<f32>();
    let expected: Vec<f32> = (0..models[0].len()).map(mean).collect();
    assert_close(&crate::common::weights(&simulation), &expected, 1e-6);
    // Names of classes go up beside the models.
    assert_eq!(stats.bytes_up, 3 * 4 * 7_850 + 4 * 8);
}

#[test]
fn clients_with_nothing_in_common_weigh_the_same() {
    let deal = || of_classes(&[&[0, 1], &[2], &[3, 4, 5]]);
    let plain = FedAvg {
        batch: 1000,
        ..base()
    };
    let found = trained(
        &LabelOverlap {
            base: plain.clone(),
        },
        "logistic",
        deal(),
        1,
    );
    let alone = |k: usize| {
        let mut deal = deal();
        deal.dataset.client_indices = vec![deal.dataset.client_indices[k].clone()];
        trained(&plain, "logistic", deal, 1)
    };
    let models = [0, 1, 2].map(alone);
    let mean = |i: usize| models.iter().map(|m| m[i] / 3.0).sum::<f32>();
    let expected: Vec<f32> = (0..found.len()).map(mean).collect();
    assert_close(&found, &expected, 1e-6);
}

//! Weights by squared norms of gradients.

use fedround::algorithms::GradientWeights;

use super::*;

/// A round's models as they are sent and the mean of them by how far they went from the model that
/// was sent out.
fn by_hand(simulation: &mut Simulation) -> Vec<f32> {
    let start = weights(simulation);
    let mut sent: Vec<Vec<f32>> = vec![];
    let round = simulation.run_round_observed(|seen| {
        let leaves = seen.tensors.into_iter();
        sent.push(leaves.flat_map(|leaf| leaf.values).collect());
    });
    round.unwrap_or_else(|error| panic!("{error}"));
    let moved = |w: &Vec<f32>| -> f64 {
        let pairs = w.iter().zip(&start);
        pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum()
    };
    let each: Vec<f64> = sent.iter().map(moved).collect();
    let total: f64 = each.iter().sum();
    assert!(each.iter().all(|of| *of > 0.0) && sent.len() == 3);
    // They differ, so that this is no mean of equals.
    assert!(each.iter().any(|of| (of / total - 1.0 / 3.0).abs() > 0.01));
    let mut mean = vec![0.0; start.len()];
    for (w, of) in sent.iter().zip(each) {
        let share = (of / total) as f32;
        mean.iter_mut().zip(w).for_each(|(m, w)| *m += share * w);
    }
    mean
}

#[test]
fn models_weigh_by_how_far_they_went() {
    let weighted = GradientWeights { base: full_batch() };
    let mut simulation = simulation(&weighted, "logistic", of_sizes(&[40, 10, 25]));
    for _ in 0..2 {
        let expected = by_hand(&mut simulation);
        assert_close(&weights(&simulation), &expected, 1e-6);
    }
}

#[test]
fn only_the_part_that_crosses_counts() {
    let weighted = GradientWeights {
        base: LgFedAvg {
            base: full_batch(),
            ..LgFedAvg::default()
        },
    };
    let mut simulation = simulation(&weighted, "2nn", of_sizes(&[40, 10, 25]));
    // Devices send the local part as they received it, so that the hand's distance is the head's.
    let expected = by_hand(&mut simulation);
    assert_close(&weights(&simulation), &expected, 1e-6);
    let stats = run(&mut simulation, 1);
    assert_eq!(stats.bytes_down, 3 * 4 * HEAD);
    assert_eq!(stats.bytes_up, 3 * 4 * (HEAD + 1));
}

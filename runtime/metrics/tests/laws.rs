//! Bounds and invariances that every metric keeps.

use fedround_metrics::bleu::{Corpus, Smoothing};
use fedround_metrics::classification::*;
use fedround_metrics::clients::ClientSummary;
use fedround_metrics::correlation::distance_correlation_squared;
use fedround_metrics::features::{frechet_distance, principal_components};
use fedround_metrics::images::psnr;
use fedround_metrics::models::model_variance;
use fedround_metrics::{Rows, vqa};
use proptest::collection::vec;
use proptest::prelude::*;

fn labelled(classes: u16) -> impl Strategy<Value = (Vec<u16>, Vec<u16>)> {
    (1usize..60).prop_flat_map(move |n| (vec(0..classes, n), vec(0..classes, n)))
}

fn scored() -> impl Strategy<Value = (Vec<f64>, Vec<bool>)> {
    // Few distinct scores, so that there are ties.
    let scores = |n| vec((0u8..8).prop_map(f64::from), n);
    (2usize..40).prop_flat_map(move |n| (scores(n), vec(any::<bool>(), n)))
}

fn matrix(width: usize) -> impl Strategy<Value = Vec<f32>> {
    (3usize..12).prop_flat_map(move |n| vec(-4.0f32..4.0, n * width))
}

fn mapped(values: &[f32], f: impl Fn(f32) -> f32) -> Vec<f32> {
    values.iter().map(|&v| f(v)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn accuracy_is_the_mean_over_classes_weighted_by_size((found, labels) in labelled(5)) {
        let total = accuracy(&found, &labels).unwrap();
        let classes = class_accuracy(&found, &labels, 5).unwrap();
        let size = |class| labels.iter().filter(|&&l| usize::from(l) == class).count() as f64;
        let sum: f64 = classes.iter().enumerate().map(|(c, a)| size(c) * a.unwrap_or(0.0)).sum();
        prop_assert!((sum / labels.len() as f64 - total).abs() < 1e-12);
        let balanced = balanced_accuracy(&found, &labels, 5).unwrap();
        prop_assert!((0.0..=1.0).contains(&balanced));
    }

    #[test]
    fn auc_sees_only_the_order((scores, positive) in scored()) {
        let Ok(auc) = roc_auc(&scores, &positive) else {
            prop_assert!(positive.iter().all(|&p| p == positive[0]));
            return Ok(());
        };
        prop_assert!((0.0..=1.0).contains(&auc));
        let stretched: Vec<f64> = scores.iter().map(|s| s.exp() - 7.0).collect();
        prop_assert_eq!(roc_auc(&stretched, &positive).unwrap(), auc);
        let negative: Vec<bool> = positive.iter().map(|p| !p).collect();
        prop_assert!((roc_auc(&scores, &negative).unwrap() - (1.0 - auc)).abs() < 1e-12);
    }

    #[test]
    fn an_ensemble_of_one_model_is_that_model(values in matrix(4), copies in 1usize..4) {
        let logits = Rows::new(&values, 4).unwrap();
        let one = predictions(logits).unwrap();
        prop_assert_eq!(ensemble_predictions(&vec![logits; copies]).unwrap(), one);
    }

    #[test]
    fn bleu_falls_with_longer_ngrams(
        hypothesis in vec(0u8..5, 1..12),
        references in vec(vec(0u8..5, 1..12), 1..4),
    ) {
        let score = |references: &[Vec<u8>]| {
            let mut corpus = Corpus::default();
            corpus.add(&hypothesis, references).unwrap();
            corpus.scores(Smoothing::None).unwrap()
        };
        let scores = score(&references);
        prop_assert!(scores.iter().all(|s| (0.0..=1.0).contains(s)));
        let mut reversed = references.clone();
        reversed.reverse();
        prop_assert_eq!(score(&reversed), scores);
        let perfect = score(&[references, vec![hypothesis.clone()]].concat());
        for (n, score) in perfect.into_iter().enumerate() {
            let expected = f64::from(u8::from(hypothesis.len() > n));
            prop_assert!((score - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn normalising_an_answer_loses_no_agreement(answer in "[a-z ,.?/-]{0,12}", others in 0usize..9) {
        let human: Vec<&str> = std::iter::repeat_n(answer.as_str(), 10 - others)
            .chain(std::iter::repeat_n("something else", others))
            .collect();
        let found = vqa::accuracy(&answer, &human).unwrap();
        prop_assert!((0.0..=1.0).contains(&found));
        prop_assert!(found >= ((9 - others) as f64 / 3.0).min(1.0));
    }

    #[test]
    fn summaries_are_within_their_values(values in vec(0.0f64..1.0, 1..50)) {
        let summary = ClientSummary::of(&values).unwrap();
        let max = values.iter().copied().fold(0.0, f64::max);
        prop_assert!(summary.min <= summary.worst_decile && summary.worst_decile <= summary.mean + 1e-12);
        prop_assert!(summary.mean <= max + 1e-12 && summary.std <= (max - summary.min) / 2.0 + 1e-12);
    }

    #[test]
    fn variance_ignores_order_and_shift(values in matrix(3), shift in -2.0f32..2.0) {
        let models: Vec<&[f32]> = values.chunks(3).collect();
        let found = model_variance(&models).unwrap();
        prop_assert!((found.squared_distance - 3.0 * found.per_parameter).abs() < 1e-9);
        let moved = mapped(&values, |v| v + shift);
        let models: Vec<&[f32]> = moved.chunks(3).rev().collect();
        prop_assert!((model_variance(&models).unwrap().per_parameter - found.per_parameter).abs() < 1e-4);
    }

    #[test]
    fn distance_correlation_ignores_shift_and_scale(
        values in matrix(5), shift in -2.0f32..2.0, scale in 0.5f32..2.0,
    ) {
        let split = |from: usize, to: usize| -> Vec<f32> {
            values.chunks(5).flat_map(|row| &row[from..to]).copied().collect()
        };
        let (x, y) = (split(0, 2), split(2, 5));
        let between = |x: &[f32], y: &[f32]| {
            distance_correlation_squared(Rows::new(x, 2).unwrap(), Rows::new(y, 3).unwrap()).unwrap()
        };
        let found = between(&x, &y);
        prop_assert!((0.0..=1.0).contains(&found));
        let moved = mapped(&x, |v| scale * v + shift);
        prop_assert!((between(&moved, &y) - found).abs() < 1e-4);
        let (x, y) = (Rows::new(&x, 2).unwrap(), Rows::new(&y, 3).unwrap());
        prop_assert!((distance_correlation_squared(y, x).unwrap() - found).abs() < 1e-12);
        prop_assert!((distance_correlation_squared(x, x).unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn frechet_distance_is_that_of_means_after_a_shift(
        a in matrix(3), b in matrix(3), shift in -2.0f32..2.0,
    ) {
        let rows = |values| Rows::new(values, 3).unwrap();
        let found = frechet_distance(rows(&a), rows(&b)).unwrap();
        let back = frechet_distance(rows(&b), rows(&a)).unwrap();
        prop_assert!((found - back).abs() < 1e-6 * found.max(1.0), "{} {}", found, back);
        let moved = mapped(&a, |v| v + shift);
        let apart = frechet_distance(rows(&a), rows(&moved)).unwrap();
        prop_assert!((apart - 3.0 * f64::from(shift).powi(2)).abs() < 1e-4, "{}", apart);
    }

    #[test]
    fn components_are_uncorrelated_and_ordered(tall in matrix(3), wide in matrix(15)) {
        for (values, width) in [(tall, 3), (wide, 15)] {
            let points = principal_components(Rows::new(&values, width).unwrap()).unwrap();
            let dot = |i: usize, j: usize| points.iter().map(|p| p[i] * p[j]).sum::<f64>();
            prop_assert!(dot(0, 1).abs() < 1e-6 * dot(0, 0).max(1.0));
            prop_assert!(dot(0, 0) >= dot(1, 1) - 1e-9);
            for k in 0..2 {
                let largest = points.iter().map(|p| p[k]).max_by(|a, b| a.abs().total_cmp(&b.abs()));
                prop_assert!(largest.unwrap() >= 0.0);
            }
        }
    }

    #[test]
    fn psnr_falls_as_images_part(image in vec(0.0f32..1.0, 1..30), by in 0.01f32..0.2) {
        let near = mapped(&image, |v| v + by);
        let far = mapped(&image, |v| v + 2.0 * by);
        let (near, far) = (psnr(&image, &near, 1.0).unwrap(), psnr(&image, &far, 1.0).unwrap());
        // Twice the error is 20 log10(2) decibels.
        prop_assert!((near - far - 6.0206).abs() < 0.01, "{} {}", near, far);
    }
}

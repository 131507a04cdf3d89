//! FedFed: passes over private and shared examples, and whose distillation it is.

use burn::tensor::Device;
use fedround::models::{DigitsConfig, Model};

use super::fed_fed::{clients, fed_fed, norm, pool, tiny, with_classifier};
use super::*;
use crate::phases::Waits;

/// The model after both phases and one round of training, with shared examples in one pass or two.
fn after_training(joint: bool, shared: f32, model: impl Fn() -> Box<dyn Model>) -> Simulation {
    let algorithm = FedFed {
        joint,
        shared,
        // All shared examples, and all private ones in one batch.
        shared_batch: 100,
        ..fed_fed(full_batch())
    };
    let program = compile_model(&algorithm, "tiny", model(), GREY);
    let deal = Deal {
        dataset: of_sizes(&[20]).dataset,
        seed: 7,
    };
    let mut simulation = deal.simulation(program, 2);
    run(&mut simulation, 3);
    simulation
}

#[test]
fn without_batch_normalisation_one_pass_is_two() {
    let [one, two] = [true, false].map(|joint| {
        let simulation = after_training(joint, 0.7, tiny);
        leaves(&simulation)[..2].concat()
    });
    assert_close(&one, &two, 1e-6);
}

/// FedFed's networks around a classifier with batch normalisation.
fn normalised() -> Box<dyn Model> {
    let config = DigitsConfig {
        channels: [2, 2, 2],
        units: [4, 4],
        ..DigitsConfig::default()
    };
    with_classifier(Box::new(config.init(GREY, &Device::default())))
}

/// The first running mean after one pass moves by the mean over private and shared examples. It is linear
/// in both, so that what a host alone and two passes have says where.
#[test]
fn one_pass_is_normalised_over_private_and_shared_examples() {
    let mean = |simulation: &Simulation| -> Vec<f32> {
        let leaves = simulation.parameters().unwrap().into_iter();
        let of_model = |name: &str| !name.starts_with("generator") && name.contains("norm1");
        let mut own = leaves.filter(|(name, ..)| of_model(name) && name.ends_with("running_mean"));
        own.next().unwrap().2
    };
    let host = Waits {
        base: full_batch(),
        wait: 2,
    };
    let mut alone = Deal {
        dataset: of_sizes(&[20]).dataset,
        seed: 7,
    }
    .simulation(compile_model(&host, "normalised", normalised(), GREY), 2);
    run(&mut alone, 3);
    let alone = mean(&alone);
    let [one, two] = [true, false].map(|joint| mean(&after_training(joint, 1.0, normalised)));
    let both = alone.iter().zip(&two);
    // As many private examples as shared ones; an estimate moves by a tenth.
    let expected: Vec<f32> = both.map(|(a, two)| 0.5 * (a + (two - 0.9 * a))).collect();
    assert_close(&one, &expected, 1e-6);
    assert!(farthest(&one, &two) > 1e-3);
}

/// The server tells the ratio from what it got, for whose noise it knows the size.
#[test]
fn the_ratio_of_signal_and_noise_is_told() {
    for (noise, variance) in [
        (FedFedNoise::Gaussian, 0.01 * 0.01),
        (FedFedNoise::Laplace, 2.0 * 0.01 * 0.01),
    ] {
        // The clip makes the norm of each image ½, so that the signal is known.
        let algorithm = FedFed {
            noise,
            sigma: 0.01,
            rho: 0.5,
            ..fed_fed(base())
        };
        let mut simulation = clients(&algorithm, 7);
        let stats = run(&mut simulation, 2);
        let ratio: f64 = 0.25 / 784.0 / variance;
        let expected = 10.0 * ratio.log10();
        let found = stats.server_numbers["fedfed.snr_db"];
        assert!(
            (found - expected).abs() < 0.2,
            "{noise:?}: {found} {expected}"
        );
    }
}

/// One image of noise for a batch, and nothing is clipped.
#[test]
fn the_codes_noise_is_one_image_of_a_batch() {
    for noise in [FedFedNoise::Gaussian, FedFedNoise::Laplace] {
        let of = |sigma| FedFed {
            recipe: FedFedRecipe::Code,
            noise,
            sigma,
            rho: 0.001,
            // One batch for each client.
            distill_batch: 100,
            // The generator knows nothing of the noise.
            classify: 0.0,
            ..fed_fed(base())
        };
        let (clean, noised) = (pool(&of(0.0), 7), pool(&of(0.2), 7));
        assert!(clean.iter().all(|x| norm(x) > 0.1), "{noise:?}");
        let mut found: Vec<(Vec<f32>, usize)> = vec![];
        for (clean, noised) in clean.iter().zip(&noised) {
            let noise: Vec<f32> = noised.iter().zip(clean).map(|(a, b)| a - b).collect();
            match found.iter_mut().find(|(of, _)| farthest(of, &noise) < 1e-4) {
                Some((_, images)) => *images += 1,
                None => found.push((noise, 1)),
            }
        }
        let mut sizes: Vec<usize> = found.iter().map(|(_, images)| *images).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [8, 12, 20], "{noise:?}");
    }
}

#[test]
fn adam_goes_on_where_it_is_kept() {
    let distilled = |keep_adam, rounds| {
        let algorithm = FedFed {
            keep_adam,
            distill: 3,
            ..fed_fed(base())
        };
        let mut simulation = clients(&algorithm, 7);
        run(&mut simulation, rounds);
        bits(&part(&simulation, "generator", true))
    };
    assert_eq!(distilled(true, 1), distilled(false, 1));
    assert_ne!(distilled(true, 2), distilled(false, 2));
}

/// `λ_re` is ten times as large in the code's first ten rounds, and the divergence a third.
#[test]
fn the_codes_weights_fall() {
    // Distillation of reconstruction alone, without noise, clip or decay: only the weight is another.
    let first_loss = |recipe, rounds: usize| {
        let algorithm = FedFed {
            recipe,
            distill: 12,
            // A rate of 0 would leave no step whose loss could be told.
            distill_lr: 1e-12,
            classify: 0.0,
            kl: 0.0,
            direct: 0.0,
            ..fed_fed(base())
        };
        let mut simulation = clients(&algorithm, 7);
        let mut loss = 0.0;
        for _ in 0..rounds {
            loss = run(&mut simulation, 1).train_loss;
        }
        loss
    };
    for (round, times) in [(1, 10.0), (10, 10.0), (11, 1.0)] {
        let paper = first_loss(FedFedRecipe::Paper, round);
        let code = first_loss(FedFedRecipe::Code, round);
        assert!(
            (code / paper - times).abs() < 1e-3,
            "{round}: {code} {paper}"
        );
    }
}

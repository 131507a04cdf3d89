//! FedAA: what its ablations reduce to, and what stays where it is.

use super::*;

/// Without fine-tuning, identifiers and a second pass.
fn fed_aa(base: FedAvg) -> FedAa {
    FedAa {
        base,
        modality: FedAaModality::Classes,
        share: 1.0,
        second: 0,
        second_batch: 1000,
        eta: LR,
        sigma: 1.0,
        iterations: 2,
        fine_tune: 0,
        identifier_steps: 1,
        identifier_lr: 4e-4,
        adversarial: 0.0,
    }
}

fn deal() -> Deal {
    of_sizes(&[20, 30, 10])
}

/// The model after some rounds, without the identifier.
fn model(algorithm: &FedAa, deal: Deal, rounds: usize) -> Vec<f32> {
    let mut simulation = simulation(algorithm, "2nn", deal);
    run(&mut simulation, rounds);
    part(&simulation, "identifier", false)
}

#[test]
fn without_its_parts_it_is_fed_avg() {
    for share in [1.0, 0.6] {
        let plain = FedAvg {
            fraction: share,
            ..base()
        };
        let none = FedAa {
            share,
            ..fed_aa(base())
        };
        let plain = trained(&plain, "2nn", deal(), 3);
        assert_close(&model(&none, deal(), 3), &plain, 1e-6);
    }
}

#[test]
fn a_second_pass_alone_is_another_round_of_fed_avg() {
    let second = FedAa {
        second: 1,
        ..fed_aa(full_batch())
    };
    let plain = trained(&full_batch(), "2nn", deal(), 4);
    assert_close(&model(&second, deal(), 2), &plain, 1e-5);
}

#[test]
fn its_parts_do_something() {
    let plain = model(&fed_aa(base()), deal(), 1);
    let tuned = FedAa {
        fine_tune: 3,
        ..fed_aa(base())
    };
    let far = farthest(&model(&tuned, deal(), 1), &plain);
    assert!(far.is_finite() && far > 1e-5, "{far}");
    let with = |adversarial: f32| {
        let second = FedAa {
            second: 1,
            adversarial,
            ..fed_aa(base())
        };
        model(&second, deal(), 1)
    };
    let far = farthest(&with(1.0), &with(0.0));
    assert!(far.is_finite() && far > 1e-6, "{far}");
}

#[test]
fn nobody_is_tuned_on_its_own_images() {
    let tuned = FedAa {
        fine_tune: 5,
        ..fed_aa(base())
    };
    let alone = || of_sizes(&[30]);
    let plain = model(&fed_aa(base()), alone(), 2);
    assert_eq!(bits(&model(&tuned, alone(), 2)), bits(&plain));
}

#[test]
fn one_client_of_a_round_has_no_others() {
    let full = FedAa {
        share: 0.1,
        second: 1,
        fine_tune: 3,
        adversarial: 1.0,
        ..fed_aa(base())
    };
    let mut simulation = simulation(&full, "2nn", deal());
    let stats = run(&mut simulation, 3);
    assert!(stats.train_loss.is_finite());
    assert!(weights(&simulation).iter().all(|w| w.is_finite()));
}

#[test]
fn the_servers_identifier_stays_what_it_was() {
    let full = FedAa {
        second: 1,
        fine_tune: 1,
        identifier_steps: 3,
        adversarial: 1.0,
        ..fed_aa(base())
    };
    let mut simulation = simulation(&full, "2nn", deal());
    let first = part(&simulation, "identifier", true);
    assert!(first.iter().any(|w| *w != 0.0));
    run(&mut simulation, 2);
    assert_eq!(bits(&part(&simulation, "identifier", true)), bits(&first));
}

#[test]
fn bytes_are_four_models_an_identifier_and_classes() {
    let full = FedAa {
        second: 1,
        adversarial: 1.0,
        ..fed_aa(base())
    };
    let classes = |part: &Vec<usize>| {
        let data = digits(120, 1).train;
        let mut classes: Vec<u16> = part.iter().map(|&i| data.labels()[i]).collect();
        classes.dedup();
        classes.len() as u64
    };
    let names: u64 = deal().dataset.client_indices.iter().map(classes).sum();
    assert!(names < 30, "{names}");
    let mut simulation = simulation(&full, "2nn", deal());
    let identifier = part(&simulation, "identifier", true).len() as u64;
    assert_eq!(
        identifier,
        (200 * 512 + 512) + (512 * 512 + 512) + (512 + 1)
    );
    let stats = run(&mut simulation, 1);
    assert_eq!(stats.bytes_down, 3 * (8 * ALL + 4 * identifier));
    // Each tells twice how many examples it has.
    assert_eq!(stats.bytes_up, 3 * (8 * ALL + 8) + 4 * names);
}

/// The server tells how well identifiers know the images that they were trained on.
#[test]
fn identifiers_tell_how_right_they_are() {
    let told = |identifier_steps, identifier_lr| {
        let algorithm = FedAa {
            identifier_steps,
            identifier_lr,
            ..fed_aa(base())
        };
        let mut simulation = simulation(&algorithm, "2nn", deal());
        run(&mut simulation, 1).server_numbers["fedaa.identifier_accuracy"]
    };
    let (first, last) = (told(1, 1e-8), told(200, 0.01));
    assert!((0.0..=0.9).contains(&first), "{first}");
    assert!(last > 0.95, "{last}");
}

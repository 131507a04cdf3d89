//! LG-FedAvg: FedAvg first, then a part of the model alone.

use super::*;

fn lg() -> LgFedAvg {
    LgFedAvg {
        base: base(),
        warm_up: 0,
        global: LgPart::Head,
        task: LgTask::None,
        task_weight: 1.0,
    }
}

fn deal() -> Deal {
    of_sizes(&[20, 40, 20, 40])
}

/// What a client has kept of its own.
fn own(simulation: &Simulation, client: usize) -> Option<Vec<Vec<f32>>> {
    simulation
        .client_state(client, "lg-fedavg.features")
        .unwrap()
}

#[test]
fn rounds_of_warm_up_are_those_of_fed_avg() {
    let warm = LgFedAvg { warm_up: 9, ..lg() };
    let plain = trained(&base(), "2nn", deal(), 3);
    assert_eq!(bits(&trained(&warm, "2nn", deal(), 3)), bits(&plain));
}

#[test]
fn the_global_part_is_the_mean_and_local_parts_differ() {
    let mut simulation = simulation(&lg(), "2nn", deal());
    let first = leaves(&simulation);
    run(&mut simulation, 2);
    let after = leaves(&simulation);
    let names = simulation.parameters().unwrap();
    let kept: Vec<_> = (0..4).map(|k| own(&simulation, k).unwrap()).collect();
    let weights = [20.0, 40.0, 20.0, 40.0].map(|n| n / 120.0);
    for (i, (name, ..)) in names.iter().enumerate() {
        if name.starts_with("features.") {
            // On the server they are as they began.
            assert_eq!(after[i], first[i], "{name}");
            assert_ne!(kept[0][i], kept[1][i], "{name}");
        } else {
            let mean =
                |j: usize| -> f32 { kept.iter().zip(weights).map(|(own, n)| n * own[i][j]).sum() };
            let mean: Vec<f32> = (0..first[i].len()).map(mean).collect();
            assert_close(&after[i], &mean, 1e-6);
        }
    }
}

#[test]
fn all_devices_begin_with_the_model_of_the_warm_up() {
    let algorithm = LgFedAvg {
        base: FedAvg {
            fraction: 0.25,
            ..base()
        },
        warm_up: 2,
        ..lg()
    };
    let mut simulation = simulation(&algorithm, "2nn", deal());
    run(&mut simulation, 2);
    assert!((0..4).all(|k| own(&simulation, k).is_none()));
    let warm = leaves(&simulation);
    run(&mut simulation, 1);
    assert_eq!(leaves(&simulation), warm);
    let mut last: Vec<_> = (0..4).map(|k| own(&simulation, k)).collect();
    assert!(last.iter().all(|own| own.as_ref() == Some(&warm)));
    // One device is drawn in a round: the others keep theirs.
    for _ in 0..3 {
        run(&mut simulation, 1);
        let now: Vec<_> = (0..4).map(|k| own(&simulation, k)).collect();
        let changed = last.iter().zip(&now).filter(|(a, b)| a != b).count();
        assert_eq!(changed, 1);
        last = now;
    }
}

#[test]
fn a_warm_up_that_ends_early_is_a_shorter_one() {
    let warm = |warm_up: usize| {
        let algorithm = LgFedAvg { warm_up, ..lg() };
        simulation(&algorithm, "2nn", deal())
    };
    let (mut early, mut short) = (warm(9), warm(2));
    run(&mut early, 2);
    assert_eq!(early.phase().0, 0);
    assert_eq!(early.end_phase(), Some(7));
    // It is over.
    assert_eq!(early.end_phase(), Some(0));
    assert_eq!(early.round(), 2);
    run(&mut early, 1);
    assert_eq!(early.phase().0, 1);
    run(&mut early, 3);
    run(&mut short, 6);
    assert_eq!(leaves(&early), leaves(&short));
    for k in 0..4 {
        assert_eq!(own(&early, k), own(&short, k));
    }
    // The last phase has no end.
    assert_eq!((early.phase().0, early.end_phase()), (2, None));
    // Before any round, all of it is left out.
    let mut none = warm(9);
    assert_eq!((none.end_phase(), none.end_phase()), (Some(9), Some(0)));
    run(&mut none, 1);
    assert_eq!(none.phase().0, 1);
}

#[test]
fn each_stage_sends_what_it_averages() {
    for (global, shared) in [(LgPart::Head, HEAD), (LgPart::Features, ALL - HEAD)] {
        let algorithm = LgFedAvg {
            base: FedAvg {
                fraction: 0.5,
                ..base()
            },
            warm_up: 1,
            global,
            ..lg()
        };
        let mut simulation = simulation(&algorithm, "2nn", deal());
        // Two of four devices; each tells how many examples it has.
        for (down, up) in [
            (2 * 4 * ALL, 2 * (4 * ALL + 4)),
            (4 * 4 * ALL, 0),
            (2 * 4 * shared, 2 * (4 * shared + 4)),
            (2 * 4 * shared, 2 * (4 * shared + 4)),
        ] {
            let stats = run(&mut simulation, 1);
            assert_eq!((stats.bytes_down, stats.bytes_up), (down, up), "{global:?}");
        }
    }
}

#[test]
fn a_task_without_weight_changes_nothing_and_others_do() {
    let after = |task: LgTask, task_weight: f32| {
        let algorithm = LgFedAvg {
            task,
            task_weight,
            ..lg()
        };
        let mut simulation = simulation(&algorithm, "2nn", of_sizes(&[10, 10]));
        let first = leaves(&simulation).len();
        run(&mut simulation, 2);
        let state = match task {
            LgTask::None => "features",
            LgTask::Supervised => "features+auxiliary",
            LgTask::Autoencoder => "features+decoder",
            LgTask::Jigsaw => "features+arranger",
        };
        let kept = simulation
            .client_state(1, &format!("lg-fedavg.{state}"))
            .unwrap();
        let kept = kept.unwrap();
        assert_eq!(kept.len(), first);
        // The 2NN comes first: two layers of features and a head.
        (leaves(&simulation)[4..6].concat(), kept[..4].concat())
    };
    let plain = after(LgTask::None, 1.0);
    for task in [LgTask::Supervised, LgTask::Autoencoder, LgTask::Jigsaw] {
        let (head, features) = after(task, 0.0);
        assert_eq!(bits(&head), bits(&plain.0), "{task:?}");
        assert_eq!(bits(&features), bits(&plain.1), "{task:?}");
        let (_, trained) = after(task, 1.0);
        let far = farthest(&trained, &plain.1);
        assert!(far.is_finite() && far > 1e-5, "{task:?}: {far}");
    }
}

#[test]
fn one_device_trains_alone() {
    let solo = Solo {
        epochs: 1,
        batch: 10,
        lr: LR,
        ..Solo::default()
    };
    let one = || of_sizes(&[40]);
    let (mut alone, mut solo) = (
        simulation(&lg(), "2nn", one()),
        simulation(&solo, "2nn", one()),
    );
    run(&mut alone, 3);
    run(&mut solo, 3);
    let expected = solo.client_state(0, "solo.own").unwrap().unwrap();
    assert_close(&own(&alone, 0).unwrap().concat(), &expected.concat(), 1e-6);
}

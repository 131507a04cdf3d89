//! The forms of clients' convolutions: the same results in each, whichever is chosen.

use fedround_exec::{AutotuneCache, ConvPolicy, Device, Precision, Target};
use fedround_ir::tensor::{Conv2d, Op};
use fedround_passes::tensor::ConvAlgorithm;
use fedround_simulation::CohortBatch;

use crate::precision::has;
use crate::{devices, fed_avg, run};

const GROUP: CohortBatch = CohortBatch::Clients(3);

/// Two convolutions, of which the second needs its input's gradient: all three kinds are in its step, as in that
/// of the CNN, which every device trains in another test.
const MODEL: &str = "lenet5";

/// Losses and parameters within a tolerance.
fn near(name: &str, found: &(Vec<f32>, f64), expected: &(Vec<f32>, f64), tolerance: f32) {
    let loss = (found.1 - expected.1).abs();
    assert!(
        loss < 10.0 * f64::from(tolerance),
        "{name}: {} and {}",
        found.1,
        expected.1
    );
    for (x, y) in found.0.iter().zip(&expected.0) {
        assert!((x - y).abs() < tolerance, "{name}: {x}, not {y}");
    }
}

#[test]
fn every_form_trains_the_same_model() {
    let expected = run(&fed_avg(), MODEL, Device::Cpu, CohortBatch::Off);
    for device in devices() {
        for form in ConvAlgorithm::ALL {
            let target = device.with_precision(Precision::F32);
            let target = target.with_convolutions(ConvPolicy::Always(form));
            let found = run(&fed_avg(), MODEL, target, GROUP);
            near(
                &format!("{} on {device}", form.name()),
                &found,
                &expected,
                1e-4,
            );
        }
    }
}

/// Unfolded convolutions of 16-bit floats are matrix products of them.
#[test]
fn unfolded_convolutions_are_rounded_as_others() {
    let short = Device::Cpu.with_precision(Precision::F16);
    let expected = run(&fed_avg(), MODEL, short, CohortBatch::Off);
    for device in devices().into_iter().filter(|d| has(*d, Precision::F16)) {
        for batch in [CohortBatch::Off, GROUP] {
            let target = device.with_precision(Precision::F16);
            let target = target.with_convolutions(ConvPolicy::Always(ConvAlgorithm::Unfold));
            let found = run(&fed_avg(), MODEL, target, batch);
            near(&format!("{batch} on {device}"), &found, &expected, 2e-3);
        }
    }
}

#[test]
fn what_was_chosen_by_timing_is_kept_and_taken_again() {
    let expected = run(&fed_avg(), MODEL, Device::Cpu, CohortBatch::Off);
    for device in devices() {
        let folder = format!("fedround-forms-{}-{}", device.kind(), std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let trained = || {
            let choices = AutotuneCache::at(&folder, |error| panic!("{error}"));
            let known = choices.len();
            let target = device.with_precision(Precision::F32);
            let target = target.with_convolutions(ConvPolicy::Timed(choices.clone()));
            near(
                &device.to_string(),
                &run(&fed_avg(), MODEL, target, GROUP),
                &expected,
                1e-4,
            );
            (known, choices.len())
        };
        let (before, after) = trained();
        // Forward and the weight's gradient of two layers, and an input's, on GPUs alone.
        assert!(
            before == 0 && (after >= 5) == (device != Device::Cpu),
            "{after} on {device}"
        );
        assert_eq!(trained(), (after, after));
        _ = std::fs::remove_dir_all(folder);
    }
}

/// `[images, channels, side]`, and `[filters, kernel]`, of one client's valid convolutions.
const LAYERS: [(&str, [usize; 3], [usize; 2]); 4] = [
    ("CNN, first", [20, 1, 28], [32, 5]),
    ("CNN, second", [20, 32, 12], [64, 5]),
    ("LeNet-5, first", [50, 3, 32], [6, 5]),
    ("LeNet-5, second", [50, 6, 14], [16, 5]),
];
const CLIENTS: usize = 10;

/// The table of `docs/benchmarks/gpu.md`.
#[test]
#[ignore = "measures"]
fn time_of_convolutions() {
    for device in devices().into_iter().filter(|d| *d != Device::Cpu) {
        println!("| {device}: {CLIENTS} clients | grouped | unfold | split |\n|---|--:|--:|--:|");
        for (name, [n, c, side], [o, kernel]) in LAYERS {
            let options = Conv2d {
                stride: [1, 1],
                padding: [0, 0],
                dilation: [1, 1],
                groups: CLIENTS,
            };
            let (x, w) = (
                [n, CLIENTS * c, side, side],
                [CLIENTS * o, c, kernel, kernel],
            );
            let y = [n, CLIENTS * o, side - kernel + 1, side - kernel + 1];
            let ops: [(&str, Op, [&[usize]; 2]); 3] = [
                ("forward", Op::Conv2d(options), [&x, &w]),
                ("input", Op::Conv2dInputGrad(options, x.to_vec()), [&w, &y]),
                (
                    "weight",
                    Op::Conv2dWeightGrad(options, w.to_vec()),
                    [&x, &y],
                ),
            ];
            for (direction, op, shapes) in ops {
                let target = Target::from(device);
                let times = target.convolution_times(&op, shapes).unwrap();
                let ms = |form: ConvAlgorithm| {
                    let found = times.iter().find(|(known, _)| *known == form);
                    found.map_or("-".to_owned(), |(_, t)| {
                        format!("{:.1}", 1e3 * t.as_secs_f64())
                    })
                };
                let row = ConvAlgorithm::ALL.map(ms).join(" | ");
                println!("| {name}, {direction} | {row} |");
            }
        }
    }
}

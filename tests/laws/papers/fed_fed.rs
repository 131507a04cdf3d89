//! FedFed: three phases, what is shared in the second, and hosts without it.

use burn::tensor::Device;
use fedround::algorithms::{FedNova, FedProx, Scaffold};
use fedround::models::{Assembly, Logistic, Model, Part, ResNetGenerator};

use super::*;
use crate::common::{hands_on, training_step};
use crate::phases::Waits;

/// Logistic regression with a small generator and a second classifier.
pub(super) fn tiny() -> Box<dyn Model> {
    with_classifier(Box::new(Logistic::new(GREY, &Device::default())))
}

/// A classifier with a small generator and a second, linear classifier.
pub(super) fn with_classifier(classifier: Box<dyn Model>) -> Box<dyn Model> {
    let device = Device::default();
    let network = |name, functions: &[(&'static str, &'static str)], model| Part {
        name,
        functions: functions.to_vec(),
        model,
    };
    let classes = ["forward", "features", "head"].map(|f| (f, f));
    let images = [("generate", "reconstruct"), ("code", "encode")];
    Box::new(Assembly::new(vec![
        network("", &classes, classifier),
        network(
            "generator",
            &images,
            Box::new(ResNetGenerator::new(1, 2, 1, &device)),
        ),
        network(
            "judge",
            &[("judge", "forward")],
            Box::new(Logistic::new(GREY, &device)),
        ),
    ]))
}

const CLASSIFIER: u64 = 7_850;
/// An image and its label.
const EXAMPLE: u64 = 784 + 1;
const SIZES: [usize; 3] = [12, 20, 8];

pub(super) fn fed_fed<A: Algorithm>(base: A) -> FedFed<A> {
    FedFed {
        base,
        recipe: FedFedRecipe::Paper,
        keep_adam: false,
        distill: 1,
        distill_share: 1.0,
        distill_batch: 10,
        distill_lr: 0.001,
        reconstruct: 5.0,
        classify: 2.0,
        kl: 0.005,
        direct: 0.4,
        rho: 3.0,
        sigma: 0.15,
        noise: FedFedNoise::Gaussian,
        download: 1.0,
        shared_batch: 16,
        shared: 1.0,
        joint: true,
    }
}

pub(super) fn clients(algorithm: &dyn Algorithm, seed: u64) -> Simulation {
    let program = compile_model(algorithm, "tiny", tiny(), GREY);
    let dataset = of_sizes(&SIZES).dataset;
    let deal = Deal { dataset, seed };
    deal.simulation(program, 2)
}

/// The pool that a client has after both phases.
pub(super) fn pool(algorithm: &dyn Algorithm, seed: u64) -> Vec<Vec<f32>> {
    let mut simulation = clients(algorithm, seed);
    run(&mut simulation, 2);
    let of = |k, name| {
        let state = simulation.client_state(k, name).unwrap();
        state.unwrap().concat()
    };
    assert_eq!(
        of(0, "fedfed.x"),
        of(2, "fedfed.x"),
        "clients have one pool"
    );
    let images: Vec<Vec<f32>> = of(0, "fedfed.x").chunks(784).map(<[f32]>::to_vec).collect();
    let labels = of(0, "fedfed.y");
    assert_eq!(labels.len(), images.len());
    assert!(labels.iter().all(|y| (0..10).contains(&(*y as i32))));
    images
}

pub(super) fn norm(image: &[f32]) -> f32 {
    image.iter().map(|x| x * x).sum::<f32>().sqrt()
}

/// A host's model after it waited for two rounds and trained for two, and with nothing shared: in a pass
/// of its own, for the order of sums in one with shared examples is another.
fn pair<A: Algorithm + Clone>(host: A) -> [Vec<f32>; 2] {
    let without = FedFed {
        shared: 0.0,
        joint: false,
        ..fed_fed(host.clone())
    };
    let waits = Waits {
        base: host,
        wait: 2,
    };
    let after = |algorithm: &dyn Algorithm| {
        let mut simulation = clients(algorithm, 7);
        run(&mut simulation, 4);
        leaves(&simulation)[..2].concat()
    };
    [after(&without), after(&waits)]
}

#[test]
fn with_nothing_shared_hosts_are_what_they_are() {
    let prox = FedProx {
        base: base(),
        mu: 0.1,
    };
    let scaffold = Scaffold {
        fraction: 1.0,
        ..Scaffold::default()
    };
    let nova = FedNova {
        fraction: 1.0,
        ..FedNova::default()
    };
    let pairs = [
        ("fedavg", pair(base())),
        ("fedprox", pair(prox)),
        ("scaffold", pair(scaffold)),
        ("fednova", pair(nova)),
    ];
    for (host, [without, plain]) in pairs {
        assert_eq!(bits(&without), bits(&plain), "{host}");
    }
}

#[test]
fn shared_examples_change_every_host() {
    let scaffold = Scaffold {
        fraction: 1.0,
        ..Scaffold::default()
    };
    let mut with = clients(&fed_fed(scaffold), 7);
    let [without, _] = pair(Scaffold {
        fraction: 1.0,
        ..Scaffold::default()
    });
    run(&mut with, 4);
    let far = farthest(&leaves(&with)[..2].concat(), &without);
    assert!(far.is_finite() && far > 1e-4, "{far}");
}

#[test]
fn each_phase_trains_its_own_networks() {
    let mut simulation = clients(&fed_fed(base()), 7);
    let of = |s: &Simulation| {
        let model = leaves(s)[..2].concat();
        [model, part(s, "generator", true), part(s, "judge", true)]
    };
    let mut last = of(&simulation);
    for changes in [[false, true, true], [false; 3], [true, false, false]] {
        run(&mut simulation, 1);
        let now = of(&simulation);
        let changed: Vec<bool> = last.iter().zip(&now).map(|(a, b)| a != b).collect();
        assert_eq!(changed, changes);
        last = now;
    }
}

#[test]
fn bytes_are_those_of_what_each_phase_needs() {
    for download in [1.0, 0.3] {
        let algorithm = FedFed {
            download,
            ..fed_fed(base())
        };
        let mut simulation = clients(&algorithm, 7);
        let generator = part(&simulation, "generator", true).len() as u64;
        let distilled = 4 * (generator + CLASSIFIER);
        let drawn = if download == 1.0 { 40 } else { 12 };
        for (down, up) in [
            (3 * distilled, 3 * (distilled + 4)),
            (3 * 4 * (generator + drawn * EXAMPLE), 4 * 40 * EXAMPLE),
            (3 * 4 * CLASSIFIER, 3 * (4 * CLASSIFIER + 4)),
        ] {
            let stats = run(&mut simulation, 1);
            assert_eq!((stats.bytes_down, stats.bytes_up), (down, up), "{download}");
        }
    }
}

/// Whatever a base reads of the model, its clients get no generator and no judge; SCAFFOLD's variate
/// goes down whole, since what an earlier phase may have kept in it is not known.
#[test]
fn no_base_gets_what_the_last_phase_has_no_use_for() {
    let down = |algorithm: &dyn Algorithm| {
        let mut simulation = clients(algorithm, 7);
        run(&mut simulation, 2);
        let networks = ["generator", "judge"].map(|name| part(&simulation, name, true));
        let stats = run(&mut simulation, 2);
        let after = ["generator", "judge"].map(|name| part(&simulation, name, true));
        assert_eq!(networks, after);
        (stats.bytes_down, weights(&simulation).len() as u64)
    };
    let (prox, _) = down(&fed_fed(FedProx {
        base: base(),
        mu: 0.1,
    }));
    assert_eq!(prox, 3 * 4 * CLASSIFIER);
    let (nova, _) = down(&fed_fed(FedNova {
        fraction: 1.0,
        ..FedNova::default()
    }));
    assert_eq!(nova, 3 * 4 * CLASSIFIER);
    let (scaffold, all) = down(&fed_fed(Scaffold {
        fraction: 1.0,
        ..Scaffold::default()
    }));
    assert_eq!(scaffold, 3 * 4 * (CLASSIFIER + all));
}

/// Whatever the base's momentum and decay are.
#[test]
fn steps_of_the_last_phase_leave_what_they_do_not_train() {
    let base = FedAvg {
        momentum: 0.9,
        weight_decay: 0.01,
        ..base()
    };
    let program = compile_model(&fed_fed(base), "tiny", tiny(), GREY);
    let phases = program.phases();
    let (_, last) = phases.last().unwrap();
    let step = training_step(last, 10);
    let (mut idle, mut trained) = (0, 0);
    for (name, _) in step.outputs.iter().filter(|(name, _)| name != "loss0") {
        let unused = name.contains(".generator.") || name.contains(".judge.");
        assert_eq!(hands_on(&step, name), unused, "{name}");
        idle += usize::from(unused);
        trained += usize::from(!unused);
    }
    // Parameters and their momentum, of each network.
    assert!(idle > 2 * trained && trained == 2 * 2, "{idle}, {trained}");
}

#[test]
fn what_an_image_shares_is_bounded() {
    for rho in [0.5, 100.0] {
        let clipped = FedFed {
            rho,
            sigma: 0.0,
            ..fed_fed(base())
        };
        let pool = pool(&clipped, 7);
        assert_eq!(pool.len(), 40);
        let longest = pool.iter().map(|x| norm(x)).fold(0.0, f32::max);
        assert!(longest <= rho * (1.0 + 1e-5), "{longest}");
        // The bound of ½ is reached, that of 100 is not.
        assert_eq!(longest > rho * 0.999, rho < 1.0, "{longest}");
    }
}

#[test]
fn noise_is_of_its_size_and_of_its_seed() {
    for (noise, mean) in [
        (FedFedNoise::Gaussian, 0.797_885),
        (FedFedNoise::Laplace, 1.0),
    ] {
        let noised = FedFed {
            rho: 0.0001,
            sigma: 0.2,
            noise,
            ..fed_fed(base())
        };
        let pool = pool(&noised, 7).concat();
        // What is shared is next to nothing; E |x| of 31,360 numbers, within 3 %.
        let found = pool.iter().map(|x| x.abs()).sum::<f32>() / pool.len() as f32;
        assert!(
            (found / (0.2 * mean) - 1.0).abs() < 0.03,
            "{noise:?}: {found}"
        );
    }
    let algorithm = fed_fed(base());
    let first = pool(&algorithm, 7);
    assert_eq!(pool(&algorithm, 7), first);
    assert_ne!(pool(&algorithm, 8), first);
}

#[test]
fn distillation_lowers_its_loss() {
    let longer = FedFed {
        distill: 5,
        distill_lr: 0.01,
        ..fed_fed(base())
    };
    let mut simulation = clients(&longer, 7);
    let first = run(&mut simulation, 1).train_loss;
    let last = run(&mut simulation, 4).train_loss;
    assert!(last < first, "{first} {last}");
}

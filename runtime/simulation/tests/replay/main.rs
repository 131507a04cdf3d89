//! Steps that are recorded and replayed on a GPU train as those that run op by op.
//!
//! Run with `--features wgpu` (Debian's `mesa-vulkan-drivers` is a device on any CPU) or
//! `--features cuda`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at its first error"
)]

// Specs in tests read as in a user's crate.
extern crate fedround_dsl as fedround;

mod case;
mod copies;
#[path = "../support/mod.rs"]
mod support;
mod time;

use fedround::optim::schedule::inverse_time;
use fedround::prelude::*;
use fedround_algorithms::{Ef21, FedAvg, Scaffold};
use fedround_exec::{CaptureStats, Device, GraphCapture};
use fedround_simulation::{ByteSize, CohortBatch, DeviceData};

use case::{Case, agree, simulation, trained};

/// Any algorithm with a step size and a proximal weight that change from round to round.
#[derive(Hyper, Debug, Clone)]
struct Fading<A = FedAvg> {
    base: A,
    #[hyper(default = 0.5, range = 0.0..)]
    mu: f32,
}

#[federated(base = base)]
impl<A: Algorithm> Algorithm for Fading<A> {
    fn gradient(&self, k: &ClientCx, w: &Params, b: &Batch) -> Params {
        inverse_time(1.0, &k.round(), 0.2) * self.base.gradient(k, w, b)
    }

    fn regularizer(&self, k: &ClientCx, w: &Params) -> Scalar {
        let mu = self.mu * (k.round() + 1.0);
        self.base.regularizer(k, w) + mu * (w - k.global_params()).sq_norm()
    }
}

fn fading<A>(base: A) -> Fading<A> {
    Fading { base, mu: 0.05 }
}

/// Momentum and weight decay, too.
fn fed_avg() -> FedAvg {
    FedAvg {
        fraction: 1.0,
        batch: 4,
        lr: 0.05,
        momentum: 0.9,
        weight_decay: 0.01,
        ..FedAvg::default()
    }
}

/// 50 steps of two clients, of which 10 are on batches of 2: alone, then side by side.
fn fifty_steps(algorithm: &dyn Algorithm, model: &str) {
    let mut case = Case {
        algorithm,
        model,
        parts: &[18, 18],
        rounds: 5,
        batch: CohortBatch::Off,
    };
    let stats = agree(&case);
    assert_eq!(stats.captured, 1, "{stats:?}");
    // All full batches but those of the first round, after which it is recorded.
    assert_eq!(stats.replays, 32, "{stats:?}");
    assert_eq!(stats.plain.values().sum::<u64>(), 50 - 32, "{stats:?}");
    case.batch = CohortBatch::Clients(2);
    let stats = agree(&case);
    assert_eq!((stats.captured, stats.replays), (1, 12), "{stats:?}");
    assert_eq!(stats.plain.values().sum::<u64>(), 25 - 12, "{stats:?}");
}

#[test]
fn replays_of_the_2nn_are_its_steps() {
    fifty_steps(&fading(fed_avg()), "2nn");
}

/// Convolutions and pools: the layers of the CNN, with a thirteenth of its parameters.
#[test]
fn replays_of_lenet5_are_its_steps() {
    fifty_steps(&fading(fed_avg()), "lenet5");
}

#[test]
fn replays_of_scaffold_are_its_steps() {
    let scaffold = Scaffold {
        fraction: 1.0,
        batch: 4,
        lr: 0.05,
        ..Scaffold::default()
    };
    fifty_steps(&fading(scaffold), "2nn");
}

/// A simulation that is told nothing of graphs replays on CUDA, and not on wgpu.
#[test]
fn cuda_replays_by_default() {
    let case = Case {
        algorithm: &fed_avg(),
        model: "logistic",
        parts: &[18],
        rounds: 4,
        batch: CohortBatch::Off,
    };
    let (found, losses, stats) = trained(&mut simulation(&case), case.rounds);
    let cuda = matches!(support::gpu(), Device::Cuda(_));
    // Two rounds of four full batches run plainly; then the step is recorded.
    let counts = stats.map(|stats| (stats.captured, stats.replays, stats.refused));
    assert_eq!(counts, cuda.then_some((1, 8, None)));
    let plain = simulation(&case).with_graph_capture(GraphCapture::Off);
    let (expected, others, none) = trained(&mut plain.unwrap(), case.rounds);
    assert!(none.is_none());
    let close = |x: f64, y: f64| (x - y).abs() < 1e-5;
    let mut params = found.iter().zip(&expected);
    assert!(params.all(|(&x, &y)| close(x.into(), y.into())));
    assert!(losses.iter().zip(&others).all(|(&x, &y)| close(x, y)));
}

/// Batches that are gathered on the device are those that are copied from the host, bit for bit: of clients
/// alone and side by side, with short batches, and of clients that sit out.
#[test]
fn examples_on_the_device_train_as_copied_batches() {
    let mut case = Case {
        algorithm: &fed_avg(),
        model: "logistic",
        parts: &[18, 11],
        rounds: 5,
        batch: CohortBatch::Off,
    };
    let both = [CohortBatch::Off, CohortBatch::Clients(2)];
    let modes = [GraphCapture::Off, GraphCapture::Require];
    for (batch, graphs) in both.into_iter().flat_map(|b| modes.map(|g| (b, g))) {
        case.batch = batch;
        let run = |data: DeviceData| {
            let simulation = simulation(&case).with_device_data(data);
            let mut simulation = simulation.with_graph_capture(graphs).unwrap();
            let trained = trained(&mut simulation, case.rounds);
            (simulation.devices_with_examples(), trained)
        };
        let (none, copied) = run(DeviceData::Off);
        let (one, gathered) = run(DeviceData::Auto);
        assert_eq!((none, one), (0, 1), "{batch}, {graphs}");
        let unlike = gathered.0.iter().zip(&copied.0);
        let unlike = unlike.filter(|(x, y)| x.to_bits() != y.to_bits()).count();
        assert_eq!((unlike, &gathered.1), (0, &copied.1), "{batch}, {graphs}");
        let replays = |stats: Option<CaptureStats>| stats.map(|s| (s.replays, s.refused));
        println!("{batch}, {graphs}: {:?}", gathered.2);
        assert_eq!(replays(gathered.2), replays(copied.2), "{batch}, {graphs}");
    }
    // 29 images and one of zeros, of 784 numbers, and labels.
    let bytes = 4 * 30 * (784 + 1);
    for (budget, devices) in [(bytes, 1), (bytes - 1, 0)] {
        let data = DeviceData::UpTo(ByteSize(budget));
        let mut simulation = simulation(&case).with_device_data(data);
        simulation.run_round().unwrap();
        assert_eq!(simulation.devices_with_examples(), devices, "{budget}");
    }
}

/// A loop that adds up gradients of the parameters around it: they have no buffers to update.
#[test]
fn replays_of_a_sum_of_gradients_are_its_steps() {
    let case = Case {
        algorithm: &Ef21 {
            batch: 4,
            ..Ef21::default()
        },
        model: "logistic",
        parts: &[18, 18],
        rounds: 5,
        batch: CohortBatch::Clients(2),
    };
    let stats = agree(&case);
    assert_eq!((stats.captured, stats.replays), (1, 12), "{stats:?}");
}

/// Half of a layer is dropped, by masks that no two steps share.
#[test]
fn replays_of_dropout_are_its_steps() {
    fifty_steps(&fading(fed_avg()), "dropped");
}

/// Clients of a group that have unlike numbers of batches, and draw masks for those that they have.
#[test]
fn clients_that_sit_out_lose_nothing() {
    let mut case = Case {
        algorithm: &fed_avg(),
        model: "dropped",
        parts: &[18, 11, 9],
        rounds: 6,
        batch: CohortBatch::Clients(3),
    };
    // In each round 4 steps on full batches, 2 of them of all clients; recorded after 2 rounds.
    // Batches of 3, 2 and 1 example run plainly.
    let stats = agree(&case);
    assert_eq!((stats.captured, stats.replays), (1, 16), "{stats:?}");
    assert_eq!(stats.plain.values().sum::<u64>(), 8 + 6 * 3, "{stats:?}");
    // The smallest client has no full batch.
    case.parts = &[18, 11, 3];
    let stats = agree(&case);
    assert_eq!((stats.captured, stats.replays), (1, 16), "{stats:?}");
    case.parts = &[3, 2, 1];
    let stats = agree(&case);
    assert_eq!((stats.captured, stats.replays), (0, 0), "{stats:?}");
    let why = "no client of the group has a full batch";
    assert!(stats.plain.keys().eq([why]), "{stats:?}");
}

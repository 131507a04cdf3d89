//! Runs with replay and without.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device as BurnDevice, Tensor};
use fedround_dsl::Algorithm;
use fedround_exec::{CaptureStats, GraphCapture};
use fedround_models::layers::Dropout;
use fedround_models::{Encoder, ForwardCx, Headed, Model};
use fedround_simulation::{CohortBatch, Simulation};

use crate::support::{self, TASK, bundled, gpu};

/// A hidden layer of which half is dropped.
#[derive(Module, Debug)]
struct Dropped {
    layer: Linear,
    dropout: Dropout,
}

impl Encoder for Dropped {
    fn features(&self, x: Tensor<4>, cx: &ForwardCx) -> Tensor<2> {
        let h = self.layer.forward(x.flatten::<2>(1, 3));
        self.dropout.forward(relu(h), cx)
    }
}

/// A bundled model, or [`Dropped`].
fn model(name: &str) -> Box<dyn Model> {
    const WIDTH: usize = 20;
    if name != "dropped" {
        return bundled(name);
    }
    let device = BurnDevice::flex();
    let features = Dropped {
        layer: LinearConfig::new(28 * 28, WIDTH).init(&device),
        dropout: Dropout::new(0.5),
    };
    Box::new(Headed::on(features, WIDTH, TASK, &device))
}

/// What trains, on clients of so many examples.
pub struct Case<'a> {
    pub algorithm: &'a dyn Algorithm,
    pub model: &'a str,
    pub parts: &'a [usize],
    pub rounds: usize,
    pub batch: CohortBatch,
}

pub fn simulation(case: &Case<'_>) -> Simulation {
    let model = (case.model, model(case.model));
    let simulation = support::simulation(case.algorithm, model, case.parts, gpu());
    simulation.with_cohort_batch(case.batch)
}

/// Parameters and losses of each round.
fn run(case: &Case<'_>, graphs: GraphCapture) -> (Vec<f32>, Vec<f64>, Option<CaptureStats>) {
    let mut simulation = simulation(case).with_graph_capture(graphs).unwrap();
    trained(&mut simulation, case.rounds)
}

/// The same of a simulation.
pub fn trained(
    simulation: &mut Simulation,
    rounds: usize,
) -> (Vec<f32>, Vec<f64>, Option<CaptureStats>) {
    let losses = (0..rounds).map(|_| simulation.run_round().unwrap().train_loss);
    let losses = losses.collect();
    let leaves = simulation.parameters().unwrap().into_iter();
    let params = leaves.flat_map(|(_, _, values)| values).collect();
    (params, losses, simulation.capture_stats())
}

/// Replayed and plain runs agree; gives what was counted.
pub fn agree(case: &Case<'_>) -> CaptureStats {
    let (expected, losses, none) = run(case, GraphCapture::Off);
    assert!(none.is_none());
    let (found, others, stats) = run(case, GraphCapture::Require);
    let name = format!("{}, cohort batch {}", case.model, case.batch);
    for (x, y) in others.iter().zip(&losses) {
        assert!(
            (x - y).abs() < 1e-4,
            "{name}: losses {others:?}, not {losses:?}"
        );
    }
    for (i, (x, y)) in found.iter().zip(&expected).enumerate() {
        assert!((x - y).abs() < 1e-4, "{name}: element {i} is {x}, not {y}");
    }
    let stats = stats.unwrap();
    println!("{name}: {stats:?}");
    stats
}

//! Digits that are drawn, and the GPU of a build with one.

mod gpu;

use fedround_data::synth::SynthDigits;
use fedround_dsl::Algorithm;
use fedround_exec::{Device, Program};
use fedround_models::{Losses, Model, Task, find};
use fedround_simulation::{FederatedDataset, Simulation};
use fedround_trace::TracedModel;
pub use gpu::gpu;

pub const TASK: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};

pub fn bundled(name: &str) -> Box<dyn Model> {
    let model = find(name).unwrap();
    model.build(TASK, &burn::tensor::Device::flex()).unwrap()
}

/// Clients of so many examples, one after another.
pub fn simulation(
    algorithm: &dyn Algorithm,
    (name, model): (&str, Box<dyn Model>),
    examples: &[usize],
    device: Device,
) -> Simulation {
    let data = SynthDigits {
        train: examples.iter().sum(),
        test: 1,
        ..SynthDigits::default()
    };
    let mut end = 0;
    let part = |n: &usize| {
        end += n;
        (end - n..end).collect()
    };
    let dataset = FederatedDataset {
        examples: data.generate().train,
        client_indices: examples.iter().map(part).collect(),
    };
    let tracer = TracedModel::new(name, model, TASK, Losses::default());
    let program = Program::compile_for(algorithm, tracer, device).unwrap();
    Simulation::new(program, dataset, 2, 1).unwrap()
}

//! Digits that are drawn, and the GPU of a build with one.

use fedround_data::synth::SynthDigits;
use fedround_dsl::Algorithm;
use fedround_exec::{Device, Program};
use fedround_models::{Losses, Model, Task, find};
use fedround_simulation::{FederatedDataset, Simulation};
use fedround_trace::TracedModel;

pub const TASK: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};

/// The GPU that a build has; of a build with both kinds the one that `FEDROUND_TEST_GPU` names, `cuda` or
/// `wgpu`.
pub fn gpu() -> Device {
    let both = cfg!(all(feature = "wgpu", feature = "cuda"));
    let cuda = match std::env::var("FEDROUND_TEST_GPU").as_deref() {
        Ok("wgpu") if both => false,
        Ok("cuda") if both => true,
        Ok(other) if both => panic!("FEDROUND_TEST_GPU is {other}, not `cuda` or `wgpu`"),
        _ => cfg!(feature = "cuda"),
    };
    if cuda {
        Device::Cuda(0)
    } else {
        Device::Wgpu(0)
    }
}

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

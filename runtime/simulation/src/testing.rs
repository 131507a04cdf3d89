//! A small simulation for this crate's own tests: generated digits, logistic regression, the CPU.

use fedround_data::synth::SynthDigits;
use fedround_dsl::Algorithm;
use fedround_models::{Losses, Task, find};

use fedround_exec::Program;
use fedround_trace::TracedModel;

use crate::{FederatedDataset, Simulation};

/// A simulation of logistic regression. `examples` has the number of examples of each client.
pub(crate) fn simulation(
    algorithm: &dyn Algorithm,
    examples: &[usize],
    threads: usize,
) -> Simulation {
    let task = Task {
        input: [1, 28, 28],
        classes: 10,
    };
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
    let model = find("logistic").unwrap();
    let built = model.build(task, &burn::tensor::Device::flex()).unwrap();
    let tracer = TracedModel::new("logistic", built, task, Losses::default());
    let program = Program::compile(algorithm, tracer).unwrap();
    Simulation::new(program, dataset, 3, threads).unwrap()
}

//! What this crate's own tests run on: a small federation of generated digits, on the CPU.

use fedround_data::synth::SynthDigits;
use fedround_dsl::Algorithm;
use fedround_models::{Losses, Task, find};

use crate::{Federation, Program, Simulation, Tracer};

/// Clients with so many examples each, and logistic regression.
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
    let federation = Federation {
        examples: data.generate().train,
        parts: examples.iter().map(part).collect(),
        seed: 3,
    };
    let model = find("logistic").unwrap();
    let built = model.build(task, &burn::tensor::Device::flex()).unwrap();
    let tracer = Tracer::new("logistic", built, task, Losses::default());
    let program = Program::compile(algorithm, tracer).unwrap();
    Simulation::new(program, federation, threads).unwrap()
}

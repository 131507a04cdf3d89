//! Small data, programs and simulations that the integration tests share.

// Each test binary uses a part.
#![allow(dead_code)]

pub mod adversary;
pub mod softmax;

use fedround::Algorithm;
use fedround::data::synth::SynthDigits;
use fedround::data::{Dataset, Examples};
use fedround::exec::{Program, Target, assemble_for};
use fedround::ir::tensor::Graph;
use fedround::models::{self, AuxiliaryTask, Losses, Model, Task};
use fedround::simulation::{FederatedDataset, RoundStats, Simulation};
use fedround::trace::TracedModel;

/// The task of the grey datasets.
pub const GREY: Task = Task {
    input: [1, 28, 28],
    classes: 10,
};

/// The task of the coloured ones.
pub const COLOUR: Task = Task {
    input: [3, 32, 32],
    classes: 10,
};

/// A little of `synth-digits`.
pub fn digits(train: usize, test: usize) -> Dataset {
    SynthDigits {
        train,
        test,
        ..SynthDigits::default()
    }
    .generate()
}

/// An algorithm compiled for a bundled model.
pub fn compile(algorithm: &dyn Algorithm, model: &str, task: Task) -> Program {
    compile_for(algorithm, model, task, 10, Target::default())
}

/// The same for a number of clients, which auxiliary networks may ask for, and a target.
fn compile_for(
    algorithm: &dyn Algorithm,
    model: &str,
    task: Task,
    clients: usize,
    target: Target,
) -> Program {
    let built = models::find(model)
        .unwrap()
        .build(task, &Default::default())
        .unwrap();
    let around = AuxiliaryTask {
        task,
        clients,
        variants: Default::default(),
    };
    let built = assemble_for(algorithm, built, &around, &Default::default());
    let built = built.unwrap_or_else(|error| panic!("{model}: {error}"));
    let tracer = TracedModel::new(model, built.model, task, Losses::default());
    Program::compile_for(algorithm, tracer, target)
        .unwrap_or_else(|error| panic!("{model}: {error}"))
}

/// An algorithm compiled for a model of one's own.
pub fn compile_model(
    algorithm: &dyn Algorithm,
    name: &str,
    model: Box<dyn Model>,
    task: Task,
) -> Program {
    let tracer = TracedModel::new(name, model, task, Losses::default());
    Program::compile(algorithm, tracer).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The graph of the first segment that trains.
pub fn training_step(program: &Program, batch: usize) -> Graph {
    let trains = |graph: &Graph| graph.outputs.iter().any(|(name, _)| name == "loss0");
    program
        .graphs(batch)
        .unwrap()
        .into_iter()
        .find(trains)
        .unwrap()
}

/// Whether a graph gives out one of its inputs under this name.
pub fn hands_on(graph: &Graph, output: &str) -> bool {
    let (_, value) = graph
        .outputs
        .iter()
        .find(|(name, _)| name == output)
        .unwrap();
    graph.inputs.iter().any(|(_, input)| input == value)
}

/// What a simulation starts from, beside its program.
#[derive(Clone)]
pub struct Deal {
    pub dataset: FederatedDataset,
    pub seed: u64,
}

impl Deal {
    /// A simulation before its first round.
    pub fn simulation(self, program: Program, threads: usize) -> Simulation {
        Simulation::new(program, self.dataset, self.seed, threads).unwrap()
    }
}

/// Clients over examples, dealt by a partition's text.
pub fn federation(examples: &Examples, partition: &str, clients: usize, seed: u64) -> Deal {
    let partition: fedround::data::Partition = partition.parse().unwrap();
    let parts = partition
        .split(examples.labels(), 10, clients, seed)
        .unwrap();
    dealt(examples, parts, seed)
}

/// Clients with the given examples.
pub fn dealt(examples: &Examples, parts: Vec<Vec<usize>>, seed: u64) -> Deal {
    let examples = examples.clone();
    let dataset = FederatedDataset {
        examples,
        client_indices: parts,
    };
    Deal { dataset, seed }
}

/// A simulation on two threads before its first round.
pub fn simulation(algorithm: &dyn Algorithm, model: &str, federation: Deal) -> Simulation {
    on_threads(algorithm, model, federation, 2)
}

/// A simulation before its first round.
pub fn on_threads(
    algorithm: &dyn Algorithm,
    model: &str,
    federation: Deal,
    threads: usize,
) -> Simulation {
    on(algorithm, model, federation, threads, Target::default())
}

/// The same for a target.
pub fn on(
    algorithm: &dyn Algorithm,
    model: &str,
    federation: Deal,
    threads: usize,
    target: Target,
) -> Simulation {
    let [channels, ..] = federation.dataset.examples.image_shape().unwrap();
    let task = if channels == 1 { GREY } else { COLOUR };
    let program = compile_for(
        algorithm,
        model,
        task,
        federation.dataset.client_indices.len(),
        target,
    );
    federation.simulation(program, threads)
}

/// Runs rounds; gives the last one's statistics.
pub fn run(simulation: &mut Simulation, rounds: usize) -> RoundStats {
    let mut last = RoundStats::default();
    for _ in 0..rounds {
        last = simulation
            .run_round()
            .unwrap_or_else(|error| panic!("{error}"));
    }
    last
}

/// The parameters after some rounds of an algorithm, all in one row.
pub fn trained(
    algorithm: &dyn Algorithm,
    model: &str,
    federation: Deal,
    rounds: usize,
) -> Vec<f32> {
    let mut simulation = simulation(algorithm, model, federation);
    run(&mut simulation, rounds);
    weights(&simulation)
}

/// The current parameters, all in one row.
pub fn weights(simulation: &Simulation) -> Vec<f32> {
    leaves(simulation).concat()
}

/// The current parameters, tensor by tensor.
pub fn leaves(simulation: &Simulation) -> Vec<Vec<f32>> {
    simulation
        .parameters()
        .unwrap()
        .into_iter()
        .map(|(_, _, values)| values)
        .collect()
}

/// The bits of numbers, for equality that tells `-0.0` and every rounding apart.
pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// Euclidean distance.
pub fn distance(a: &[f32], b: &[f32]) -> f64 {
    let square = |(x, y): (&f32, &f32)| (f64::from(*x) - f64::from(*y)).powi(2);
    a.iter().zip(b).map(square).sum::<f64>().sqrt()
}

/// Fails where two rows differ by more than a tolerance somewhere.
pub fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (i, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= tolerance, "element {i}: {x}, expected {y}");
    }
}

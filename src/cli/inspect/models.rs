//! Runs small programs on a trained model's parameters.

use fedround_data::Examples;
use fedround_dsl::Algorithm;
use fedround_exec::{Federation, Program, RunError, SeenTensor, Simulation};
use fedround_ir::tensor::TensorType;
use fedround_models::{AuxiliaryTask, Task};

use super::Subject;
use super::specs::OUTPUTS;
use crate::cli::auxiliaries::Auxiliaries;
use crate::cli::error::CliError;

/// Names, types and values of parameters.
pub(super) type Leaves = Vec<(String, TensorType, Vec<f32>)>;

pub(super) fn failed(source: RunError) -> CliError {
    CliError::Run {
        source: Box::new(source),
        kept: None,
    }
}

impl Subject<'_> {
    /// A program over other examples, with the run's model and the networks that it needs beside
    /// it; `generator` is the variant of that network.
    pub fn simulate(
        &self,
        algorithm: &dyn Algorithm,
        examples: Examples,
        parts: Vec<Vec<usize>>,
        generator: Option<&str>,
    ) -> Result<Simulation, CliError> {
        let mut variants: Auxiliaries = self.settings.aux.clone();
        let generator = generator.map(|variant| ("generator".to_owned(), variant.to_owned()));
        variants.extend(generator);
        let around = AuxiliaryTask {
            task: Task {
                input: examples.input_shape()?,
                classes: self.data.classes,
            },
            clients: parts.len(),
            variants,
        };
        let columns = examples.columns().iter();
        let columns = columns.map(|c| (c.name().to_owned(), c.shape().to_vec()));
        let words = self.data.language.as_ref().map(|of| of.vocabulary.len());
        let (tracer, _) = self
            .cli
            .tracer(&self.settings.model, algorithm, &around, words)?;
        let tracer = tracer.with_columns(columns.collect());
        let program = Program::compile_for(algorithm, tracer, self.settings.device)?;
        let federation = Federation {
            examples,
            parts,
            seed: self.settings.seed,
        };
        let threads = self.settings.threads;
        let simulation = Simulation::new(program, federation, threads);
        simulation.map_err(|source| CliError::Threads {
            threads,
            message: source.to_string(),
        })
    }
}

/// Gives a simulation the parameters of another that have the same names and sizes.
pub(super) fn with_leaves(simulation: &mut Simulation, of: &Leaves) {
    let mut own = simulation.parameters();
    for (name, ty, values) in &mut own {
        let same = |(n, t, _): &&(String, TensorType, Vec<f32>)| n == name && t == ty;
        if let Some((_, _, theirs)) = of.iter().find(same) {
            values.clone_from(theirs);
        }
    }
    // They are of its own sizes.
    let _ = simulation.set_parameters(own.into_iter().map(|(_, _, values)| values).collect());
}

/// What [`Outputs`](super::specs::Outputs) gives for each client; a row for each of its examples.
pub(super) fn outputs(simulation: &mut Simulation) -> Result<Vec<Vec<f32>>, CliError> {
    simulation.step().map_err(failed)?;
    let clients = 0..simulation.federation().parts.len();
    let kept = clients.map(|k| simulation.client_state(k, OUTPUTS));
    Ok(kept
        .map(|kept| {
            kept.and_then(|kept| kept.into_iter().next())
                .unwrap_or_default()
        })
        .collect())
}

/// Some examples' inputs, one after another.
pub(super) fn inputs(examples: &Examples, indices: &[usize]) -> Result<Vec<f32>, CliError> {
    let mut x = vec![0.0; indices.len() * examples.features()];
    examples.x().gather_into(indices, &mut x)?;
    Ok(x)
}

/// How many rows a tensor has, and numbers in a row.
pub(super) fn sizes(tensor: &SeenTensor) -> (usize, usize) {
    let rows = tensor.shape.first().copied().unwrap_or_default();
    (rows, tensor.values.len() / rows.max(1))
}

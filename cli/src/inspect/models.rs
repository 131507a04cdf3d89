//! Runs small programs on a trained model's parameters.

use fedround_data::augment::{Augment, Scratch, Visit};
use fedround_data::{Column, Examples};
use fedround_dsl::Algorithm;
use fedround_exec::{ObservedTensor, RunError, Simulation};
use fedround_ir::tensor::TensorType;

use super::Subject;
use super::specs::OUTPUTS;
use crate::Cli;
use crate::error::CliError;
use crate::settings::Settings;

/// Names, types and values of parameters.
pub(super) type Leaves = Vec<(String, TensorType, Vec<f32>)>;

pub(super) fn failed(source: RunError) -> CliError {
    CliError::Run {
        source: Box::new(source),
        kept: None,
    }
}

impl Subject<'_> {
    /// A program over examples whose inputs are as models see them, with the run's model and the
    /// networks that it needs beside it; `generator` is the variant of that network.
    pub fn simulate(
        &self,
        algorithm: &dyn Algorithm,
        examples: Examples,
        parts: Vec<Vec<usize>>,
        generator: Option<&str>,
    ) -> Result<Simulation, CliError> {
        let mut aux = self.settings.aux.clone();
        aux.extend(generator.map(|variant| ("generator".to_owned(), variant.to_owned())));
        let settings = Settings {
            aux,
            augment: Augment::default(),
            ..self.settings.clone()
        };
        let of = (&examples, parts.len());
        let (tracer, _) = self.cli.tracer_of(&settings, algorithm, self.data, of)?;
        Cli::simulation(&settings, algorithm, tracer, examples, parts)
    }

    /// What models take: channels, height and width, images as they are changed for training.
    pub fn shape(&self) -> Result<[usize; 3], CliError> {
        let shape = self.simulation.dataset().examples.input_shape()?;
        Ok(self.settings.augment.output_shape(shape)?)
    }

    /// Numbers in an input.
    pub fn width(&self) -> Result<usize, CliError> {
        Ok(self.shape()?.iter().product())
    }

    /// Some examples' inputs as models see them, one after another: through what augmentation does
    /// to each image alike.
    pub fn inputs(&self, examples: &Examples, indices: &[usize]) -> Result<Vec<f32>, CliError> {
        let fixed = self.settings.augment.fixed();
        let mut x = vec![0.0; indices.len() * self.width()?];
        if fixed.is_empty() {
            examples.x().gather_into(indices, &mut x)?;
        } else {
            let (visit, scratch) = (Visit::default(), &mut Scratch::default());
            fixed.gather_into(examples.x(), indices, visit, scratch, &mut x)?;
        }
        Ok(x)
    }

    /// All examples, with such inputs.
    pub fn examples(&self, examples: &Examples) -> Result<Examples, CliError> {
        if self.settings.augment.fixed().is_empty() {
            return Ok(examples.clone());
        }
        let all: Vec<usize> = (0..examples.len()).collect();
        let x = self.inputs(examples, &all)?;
        let x = Column::floats("x", self.shape()?.to_vec(), x)?;
        let others = examples.columns().iter().filter(|c| c.name() != "x");
        let columns = [x].into_iter().chain(others.cloned()).collect();
        Ok(Examples::of_columns(columns, examples.labels().to_vec())?)
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
    simulation.run_round().map_err(failed)?;
    let clients = 0..simulation.dataset().client_indices.len();
    let kept = clients.map(|k| simulation.client_state(k, OUTPUTS));
    Ok(kept
        .map(|kept| {
            kept.and_then(|kept| kept.into_iter().next())
                .unwrap_or_default()
        })
        .collect())
}

/// How many rows a tensor has, and numbers in a row.
pub(super) fn sizes(tensor: &ObservedTensor) -> (usize, usize) {
    let rows = tensor.shape.first().copied().unwrap_or_default();
    (rows, tensor.values.len() / rows.max(1))
}

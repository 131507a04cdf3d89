//! Measures on a trained run: its inputs as models see them, outputs of its model and of networks
//! beside it, and further training of its own.

use fedround_data::augment::{Augment, Scratch, Visit};
use fedround_data::{Column, Examples};
use fedround_dsl::Algorithm;
use fedround_models::Train;
use fedround_simulation::{Faults, FederatedDataset, Simulation};

use super::compile::{simulation, trace};
use super::specs::{OUTPUTS, Outputs};
use super::{ExperimentError, Parameters, Run, Settings};

impl Run {
    /// Another program with this run's model and settings, over examples whose inputs are as models
    /// see them; `client_indices` says which client has which of them. Networks that the program needs
    /// are put beside the model; `generator` is the variant of that one.
    ///
    /// # Errors
    ///
    /// See [`ExperimentError`].
    pub fn simulate(
        &self,
        algorithm: &dyn Algorithm,
        examples: Examples,
        client_indices: Vec<Vec<usize>>,
        generator: Option<&str>,
    ) -> Result<Simulation, ExperimentError> {
        let mut settings = Settings {
            augment: Augment::default(),
            late_client: None,
            faults: Faults::default(),
            ..self.settings.clone()
        };
        let generator = generator.map(|variant| ("generator".to_owned(), variant.to_owned()));
        settings.auxiliaries.extend(generator);
        let sources = (&self.model, &self.losses);
        let clients = client_indices.len();
        let weights = match settings.train {
            Train::All => None,
            Train::LowRank(_) => self.start.weights()?,
        };
        let (model, _) = trace(
            sources,
            &settings,
            algorithm,
            &self.data,
            (&examples, clients),
            weights.as_ref(),
        )?;
        let dataset = FederatedDataset {
            examples,
            client_indices,
        };
        simulation(
            &settings,
            algorithm,
            model,
            dataset,
            &mut self.program().pass_manager(),
        )
    }

    /// What a function of the model gives for each client's examples, a row for each example:
    /// `forward`, `generate` of a generator of that variant, or `expose` of an adversary.
    ///
    /// # Errors
    ///
    /// See [`ExperimentError`].
    pub fn outputs(
        &self,
        function: &str,
        parameters: &Parameters,
        examples: Examples,
        client_indices: Vec<Vec<usize>>,
        generator: Option<&str>,
    ) -> Result<Vec<Vec<f32>>, ExperimentError> {
        let outputs = Outputs {
            function: function.to_owned(),
        };
        let mut simulation = self.simulate(&outputs, examples, client_indices, generator)?;
        copy_parameters(&mut simulation, parameters)?;
        simulation.run_round()?;
        let clients = 0..simulation.dataset().client_indices.len();
        let kept = clients.map(|k| simulation.client_state(k, OUTPUTS));
        let first = |kept: Option<Vec<Vec<f32>>>| kept.and_then(|all| all.into_iter().next());
        kept.map(|kept| Ok(first(kept?).unwrap_or_default()))
            .collect()
    }

    /// What models take: channels, height and width, images as they are changed for training.
    pub fn shape(&self) -> Result<[usize; 3], ExperimentError> {
        let shape = self.simulation.dataset().examples.input_shape()?;
        Ok(self.settings.augment.output_shape(shape)?)
    }

    /// Numbers in an input.
    pub fn width(&self) -> Result<usize, ExperimentError> {
        Ok(self.shape()?.iter().product())
    }

    /// Some examples' inputs as models see them, one after another: through what augmentation does
    /// to each image alike.
    pub fn inputs(
        &self,
        examples: &Examples,
        indices: &[usize],
    ) -> Result<Vec<f32>, ExperimentError> {
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
    pub fn examples(&self, examples: &Examples) -> Result<Examples, ExperimentError> {
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

/// Gives a simulation the parameters of another that have the same names and types.
pub(super) fn copy_parameters(
    simulation: &mut Simulation,
    of: &Parameters,
) -> Result<(), ExperimentError> {
    let mut own = simulation.parameters()?;
    for (name, ty, values) in &mut own {
        let same = of.iter().find(|(n, t, _)| n == name && t == ty);
        if let Some((_, _, theirs)) = same {
            values.clone_from(theirs);
        }
    }
    // They are of its own sizes.
    let _ = simulation.set_parameters(own.into_iter().map(|(_, _, values)| values).collect());
    Ok(())
}

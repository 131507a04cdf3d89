//! Traces an experiment's model, compiles its algorithm and sets up the simulation.

use fedround_data::{Augment, AugmentError, Dataset, Examples};
use fedround_dsl::Algorithm;
use fedround_exec::Program;
use fedround_models::{AuxiliaryTask, Losses, Task, Train, Weights};
use fedround_passes::PassManager;
use fedround_simulation::{FederatedDataset, Simulation};
use fedround_trace::TracedModel;

use super::adapters::adapt;
use super::error::ExperimentError;
use super::settings::Settings;
use crate::model_source::{Auxiliaries, ModelSource};

/// A model ready to be traced for `examples`, which `clients` have: those of a dataset, or others of
/// its classes and words. Adapters are beside a base of these weights. With the model, the auxiliary networks
/// beside it.
pub(super) fn trace(
    (model, losses): (&ModelSource, &Losses),
    settings: &Settings,
    algorithm: &dyn Algorithm,
    data: &Dataset,
    (examples, clients): (&Examples, usize),
    weights: Option<&Weights>,
) -> Result<(TracedModel, Auxiliaries), ExperimentError> {
    let around = AuxiliaryTask {
        task: Task {
            input: input_shape(&settings.augment, examples)?,
            classes: data.classes,
        },
        clients,
        variants: settings.auxiliaries.clone(),
    };
    let words = data.language.as_ref().map(|of| of.vocabulary.len());
    let (model, used) = match settings.train {
        Train::All => model.trace(algorithm, &around, words, losses)?,
        Train::LowRank(adapters) => {
            let adapt = |base| adapt(base, adapters, settings.seed, weights);
            model.trace_adapted(algorithm, &around, words, losses, adapt)?
        }
    };
    let columns = examples.columns().iter();
    let columns = columns.map(|c| (c.name().to_owned(), c.shape().to_vec()));
    Ok((model.with_columns(columns.collect()), used))
}

/// What the model takes: channels, height and width, of images as they are changed for training. A row of numbers has
/// such a shape, too, but only images can be changed.
fn input_shape(augment: &Augment, examples: &Examples) -> Result<[usize; 3], ExperimentError> {
    if !augment.is_empty() && examples.image_shape().is_err() {
        return Err(AugmentError::NotImages {
            steps: augment.to_string(),
            shape: examples.shape().to_vec(),
        }
        .into());
    }
    Ok(augment.output_shape(examples.input_shape()?)?)
}

/// Compiles an algorithm and sets up its simulation.
pub(super) fn simulation(
    settings: &Settings,
    algorithm: &dyn Algorithm,
    model: TracedModel,
    dataset: FederatedDataset,
    passes: &mut PassManager,
) -> Result<Simulation, ExperimentError> {
    let devices = &settings.devices;
    let target = devices.first().with_precision(settings.precision);
    let target = target
        .with_convolutions(settings.convolutions.clone())
        .with_exact_convolutions(settings.exact_conv);
    let mut program = Program::compile_with(algorithm, model, target, passes)?;
    if !settings.fusion {
        program = program.without_fusion();
    }
    let threads = settings.threads;
    let simulation = Simulation::new(program, dataset, settings.seed, threads);
    let simulation = simulation.map_err(|source| ExperimentError::Threads {
        threads,
        message: source.to_string(),
    })?;
    let simulation = match settings.client_memory {
        Some(memory) => simulation.with_client_memory(memory.0),
        None => simulation,
    };
    let simulation = match settings.reproducible_noise {
        true => simulation,
        false => simulation.with_system_noise()?,
    };
    Ok(simulation
        .with_augment(settings.augment.clone())
        .with_evaluation_batch(settings.eval_batch)
        .with_personal(algorithm)?
        .with_cohort_batch(settings.cohort_batch)
        .with_device_data(settings.device_data)
        .with_late_client(settings.late_client)?
        .with_on_nan(settings.on_nan)
        .with_faults(settings.faults.clone())?
        .with_devices(devices.more())?
        .with_graph_capture(settings.graph_capture)?)
}

//! The clients' personal models, which an algorithm's hooks `evaluate` and `personalize` make of the global model.

use fedround_exec::tensor::transfer_all;
use std::collections::BTreeMap;

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_dsl::{Algorithm, PERSONAL_MODEL, stage_evaluations};

use crate::state::State;
use fedround_exec::CompileError;

use crate::error::RunError;
use fedround_exec::Program;

/// A program that makes the clients' personal models for an evaluation.
pub(crate) struct EvaluationProgram {
    /// The name of the evaluation; `None` for the one that every algorithm with personal models has.
    pub name: Option<String>,
    pub program: Program,
}

impl EvaluationProgram {
    /// The same program for another device.
    pub fn for_device(&self, device: &DispatchDevice) -> Self {
        Self {
            name: self.name.clone(),
            program: self.program.for_device(device),
        }
    }
}

/// The programs that make the clients' personal models, the one without a name first. Empty if all clients use the
/// global model.
///
/// # Errors
///
/// See [`CompileError`].
pub(crate) fn evaluations(
    program: &Program,
    algorithm: &dyn Algorithm,
) -> Result<Vec<EvaluationProgram>, CompileError> {
    let staged = stage_evaluations(algorithm, &program.model().objective())?;
    let compiled = staged.into_iter().map(|staged| {
        let evaluation = program.compile_other_phases(staged.phases)?;
        evaluation.check_states(program, algorithm)?;
        Ok(EvaluationProgram {
            name: staged.name,
            program: evaluation,
        })
    });
    compiled.collect()
}

/// The personal models of some clients, or of all.
pub struct PersonalModels(BTreeMap<usize, Vec<DispatchTensor>>);

impl PersonalModels {
    /// The models that a round of an [evaluation's program](EvaluationProgram) has set as states, copied to a device.
    pub(crate) fn from_state(state: State, device: &DispatchDevice) -> Result<Self, RunError> {
        let states = state.clients.into_pending();
        let models = states.filter(|((_, state), _)| state == PERSONAL_MODEL);
        let models = models.map(|((k, _), model)| Ok((k, transfer_all(model, device)?)));
        models.collect::<Result<_, _>>().map(Self)
    }

    /// The clients' numbers, in ascending order.
    pub fn clients(&self) -> impl Iterator<Item = usize> {
        self.0.keys().copied()
    }

    /// The models, in the order of their clients.
    pub(crate) fn all(&self) -> Vec<&[DispatchTensor]> {
        self.0.values().map(Vec::as_slice).collect()
    }

    /// A client's model; `None` if it is not among these.
    pub(crate) fn of(&self, client: usize) -> Option<&[DispatchTensor]> {
        self.0.get(&client).map(Vec::as_slice)
    }
}

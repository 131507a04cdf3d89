//! The clients' personal models: what an algorithm's hook `personalize` makes of the global model.

use fedround_exec::tensor::transfer_all;
use std::collections::BTreeMap;

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_dsl::{Algorithm, PERSONAL_MODEL, stage_personalized};
use fedround_ir::fed::Hook;

use crate::state::State;
use fedround_exec::CompileError;

use crate::error::RunError;
use fedround_exec::Program;

/// The program that makes the clients' models; `None` where every client uses the global one.
///
/// # Errors
///
/// See [`CompileError`].
pub(crate) fn personalized(
    program: &Program,
    algorithm: &dyn Algorithm,
) -> Result<Option<Program>, CompileError> {
    let mut defined = program.staged().funcs.iter();
    if !defined.any(|func| func.hook == Hook::Personalize) {
        return Ok(None);
    }
    let staged = stage_personalized(algorithm, &program.model().objective())?;
    program.compile_beside(staged).map(Some)
}

/// The models of some clients, or of all.
pub struct PersonalModels(BTreeMap<usize, Vec<DispatchTensor>>);

impl PersonalModels {
    /// Those that a round of [such a program](personalized) kept, on one device.
    pub(crate) fn kept(state: State, device: &DispatchDevice) -> Result<Self, RunError> {
        let kept = state.clients.into_fresh();
        let models = kept.filter(|((_, state), _)| state == PERSONAL_MODEL);
        let models = models.map(|((k, _), model)| Ok((k, transfer_all(model, device)?)));
        models.collect::<Result<_, _>>().map(Self)
    }

    /// Whose they are, in ascending order.
    pub fn clients(&self) -> impl Iterator<Item = usize> {
        self.0.keys().copied()
    }

    /// The models, in the order of their clients.
    pub(crate) fn all(&self) -> Vec<&[DispatchTensor]> {
        self.0.values().map(Vec::as_slice).collect()
    }

    /// A client's.
    pub(crate) fn of(&self, client: usize) -> Option<&[DispatchTensor]> {
        self.0.get(&client).map(Vec::as_slice)
    }
}

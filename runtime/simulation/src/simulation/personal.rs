//! Makes the clients' personal models: a block of clients at a time, or all at once.

use std::sync::atomic::Ordering;

use fedround_exec::ExecError;

use super::Simulation;
use super::devices::TrainingDevice;
use crate::error::RunError;
use crate::evaluation::personal_models::PersonalModels;
use crate::faults::Attendance;
use crate::regions::client_groups::client_blocks;
use crate::retry_on_oom::in_smaller_groups;
use crate::round::{RoundInput, run_round};

/// The number of models in a block, for each worker. With one, workers would wait for the slowest client of each
/// block.
const BLOCK: usize = 2;

impl Simulation {
    /// Makes the clients' personal models from the current global model, and gives them to `visit`, a block of
    /// clients at a time, so that memory does not grow with the number of clients. Each client is in one block. No
    /// state of the simulation changes. Does nothing if all clients use the global model.
    ///
    /// # Errors
    ///
    /// See [`RunError`]; or the first error of `visit`.
    pub fn visit_personal_models<E: From<RunError>>(
        &self,
        visit: impl FnMut(&PersonalModels) -> Result<(), E>,
    ) -> Result<(), E> {
        self.visit_evaluation(None, visit)
    }

    /// The names of the algorithm's evaluations, without the one that has no name.
    pub fn evaluations(&self) -> impl Iterator<Item = &str> {
        let all = self.main_device.evaluations.iter();
        all.filter_map(|own| own.name.as_deref())
    }

    /// As [`visit_personal_models`](Self::visit_personal_models), for the models of an evaluation. `None` names the
    /// evaluation of the personal models. Does nothing if there is no evaluation of this name.
    ///
    /// # Errors
    ///
    /// See [`RunError`]; or the first error of `visit`.
    pub fn visit_evaluation<E: From<RunError>>(
        &self,
        evaluation: Option<&str>,
        mut visit: impl FnMut(&PersonalModels) -> Result<(), E>,
    ) -> Result<(), E> {
        let contexts = self.personal_contexts(evaluation, self.round, self.personal_group());
        let Some(devices) = contexts else {
            return Ok(());
        };
        let workers: usize = self
            .devices()
            .map(|device| device.worker_threads(self.threads))
            .sum();
        for ids in client_blocks(&devices, BLOCK * workers) {
            if let Some(models) = self.make_personal_models(evaluation, Some(&ids))? {
                visit(&models)?;
            }
        }
        Ok(())
    }

    /// The personal models of all clients; `None` if all clients use the global model. All models are in memory at
    /// once: [`visit_personal_models`](Self::visit_personal_models) makes a few at a time.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn personal_models(&self) -> Result<Option<PersonalModels>, RunError> {
        self.make_personal_models(None, None)
    }

    /// The largest number of personal models that were in memory at once since the simulation was created.
    pub fn most_personal_models(&self) -> usize {
        self.most_personal_models.load(Ordering::Relaxed)
    }

    /// The largest number of clients whose models are made in one graph on any device.
    fn personal_group(&self) -> usize {
        let limit = self.personal_group.load(Ordering::Relaxed);
        self.cohort_batch().min(limit)
    }

    /// Makes the models of the clients `ids`, or of all clients, for an evaluation. If a device runs out of memory, they
    /// are made in smaller groups of clients, and so are those that are made later. The examples on the device stay
    /// there, unlike when a round is repeated. `None` if there is no evaluation of this name.
    fn make_personal_models(
        &self,
        evaluation: Option<&str>,
        ids: Option<&[usize]>,
    ) -> Result<Option<PersonalModels>, RunError> {
        let clients = ids.map_or(self.clients(), <[usize]>::len);
        let before = self.personal_group().min(clients.max(1));
        let mut max_group = before;
        let models = in_smaller_groups(&mut max_group, |max_group| {
            let models = self.make_in_groups(evaluation, ids, max_group);
            if let Err(RunError::Exec(ExecError::OutOfMemory(_))) = models {
                self.devices()
                    .for_each(TrainingDevice::free_reusable_memory);
            }
            models
        });
        if max_group < before {
            self.personal_group.fetch_min(max_group, Ordering::Relaxed);
        }
        models
    }

    /// Makes models with up to `max_group` clients in one graph.
    fn make_in_groups<'a>(
        &'a self,
        evaluation: Option<&str>,
        ids: Option<&'a [usize]>,
        max_group: usize,
    ) -> Result<Option<PersonalModels>, RunError> {
        let contexts = self.personal_contexts(evaluation, self.round, max_group);
        let Some(mut devices) = contexts else {
            return Ok(None);
        };
        if self.parties.is_some() {
            return Err(RunError::PersonalModelsAtParties);
        }
        devices.iter_mut().for_each(|cx| cx.client_subset = ids);
        let (mut state, params) = (self.state.clone(), self.params.clone());
        let mut attendance = Attendance::default();
        self.guarded(|| {
            run_round(RoundInput {
                devices: &devices,
                workers: &self.workers,
                parties: None,
                state: &mut state,
                params,
                observer: None,
                non_finite: None,
                attendance: &mut attendance,
            })
        })?;
        let models = PersonalModels::from_state(state, self.program().device())?;
        let made = models.clients().count();
        self.most_personal_models.fetch_max(made, Ordering::Relaxed);
        Ok(Some(models))
    }
}

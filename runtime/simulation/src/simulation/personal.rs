//! Makes the clients' personal models: some at a time, or all at once.

use std::iter::once;
use std::sync::atomic::Ordering;

use super::Simulation;
use crate::context::RoundContext;
use crate::error::RunError;
use crate::evaluation::personal_models::PersonalModels;
use crate::faults::Attendance;
use crate::regions::client_groups::blocks;
use crate::round::run_round;

/// Models of a block, for each worker. With one, workers would wait for the slowest of each block.
const BLOCK: usize = 2;

impl Simulation {
    /// Shows `visit` the clients' personal models, made from the current global model: those of a few
    /// clients at a time, so that memory does not grow with the number of clients. Each client is in one
    /// block. No state of the simulation changes. Does nothing if all clients use the global model.
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

    /// The names of the algorithm's evaluations beside the one without a name.
    pub fn evaluations(&self) -> impl Iterator<Item = &str> {
        let all = self.home.evaluations.iter();
        all.filter_map(|own| own.name.as_deref())
    }

    /// As [`visit_personal_models`](Self::visit_personal_models), for the models of an evaluation; the one
    /// without a name is that of the personal models. Does nothing if there is none of this name.
    ///
    /// # Errors
    ///
    /// See [`RunError`]; or the first error of `visit`.
    pub fn visit_evaluation<E: From<RunError>>(
        &self,
        evaluation: Option<&str>,
        mut visit: impl FnMut(&PersonalModels) -> Result<(), E>,
    ) -> Result<(), E> {
        let contexts = self.personal_contexts(evaluation, self.round, usize::MAX);
        let Some((cx, beside)) = contexts else {
            return Ok(());
        };
        let workers: usize = self.sites().map(|site| site.feeding(self.threads)).sum();
        let devices: Vec<RoundContext<'_>> = once(cx).chain(beside.iter().copied()).collect();
        for ids in blocks(&devices, cx.clients(), BLOCK * workers) {
            visit(&self.make_personal_models((cx, &beside), Some(&ids))?)?;
        }
        Ok(())
    }

    /// The personal models of all clients at once; `None` if all clients use the global model. They take
    /// the memory of so many models: [`visit_personal_models`](Self::visit_personal_models) makes a few at
    /// a time.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn personal_models(&self) -> Result<Option<PersonalModels>, RunError> {
        let Some((cx, beside)) = self.personal_contexts(None, self.round, usize::MAX) else {
            return Ok(None);
        };
        self.make_personal_models((cx, &beside), None).map(Some)
    }

    /// The most personal models that were in memory at once since the simulation was made.
    pub fn most_personal_models(&self) -> usize {
        self.most_personal_models.load(Ordering::Relaxed)
    }

    /// The models of these clients, or of all.
    fn make_personal_models<'a>(
        &'a self,
        (cx, beside): (RoundContext<'a>, &[RoundContext<'a>]),
        ids: Option<&'a [usize]>,
    ) -> Result<PersonalModels, RunError> {
        if self.parties.is_some() {
            return Err(RunError::PersonalModelsAtParties);
        }
        let of = |cx: &RoundContext<'a>| -> RoundContext<'a> {
            RoundContext {
                everyone: ids,
                ..*cx
            }
        };
        let beside: Vec<_> = beside.iter().map(of).collect();
        let (mut state, params) = (self.state.clone(), self.params.clone());
        let mut all = Attendance::default();
        self.guarded(|| {
            let (here, state) = ((&self.workers, None), &mut state);
            run_round(
                of(&cx),
                &beside,
                here,
                state,
                params,
                None,
                (None, &mut all),
            )
        })?;
        let models = PersonalModels::kept(state, cx.program.device())?;
        let made = models.clients().count();
        self.most_personal_models.fetch_max(made, Ordering::Relaxed);
        Ok(models)
    }
}

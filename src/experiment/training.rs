//! The rounds of a run.

use std::time::Instant;

use fedround_simulation::RunError;

use super::validation::mean;
use super::{
    Best, ClientModels, ExperimentError, Observer, OwnTensors, Report, Round, Run, Status,
    privacy_spent,
};

impl Run {
    /// Trains the rounds that are left, evaluates the model in the course of them and at the end, and
    /// takes the measures that the settings ask for.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Training`], with the report of the complete rounds.
    pub fn train(&mut self, observer: &mut dyn Observer) -> Result<Report, ExperimentError> {
        while !observer.stop_requested() {
            match self.step(observer) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(self.fail(error)),
            }
        }
        self.finish()
    }

    /// Trains the next round, and evaluates the model if its turn has come. Gives `false`, and does
    /// nothing, if no round is left.
    ///
    /// # Errors
    ///
    /// A round or an evaluation failed. [`report`](Self::report) has the complete rounds.
    pub fn step(&mut self, observer: &mut dyn Observer) -> Result<bool, ExperimentError> {
        if self.rounds_left() == 0 {
            return Ok(false);
        }
        let number = self.report.rounds() + 1;
        let round = self.round(number, observer)?;
        self.report.history.push(round);
        let mut evaluated = Ok(());
        if number.is_multiple_of(self.settings.eval_every) {
            let mut report = std::mem::take(&mut self.report);
            evaluated = self.evaluate(&mut report);
            self.report = report;
        } else if self.rounds_left() == 0 {
            let mut report = self.report.clone();
            evaluated = self.evaluate(&mut report);
            report.goal_round = report.goal_round.or(self.reaches_goal(&report));
            self.ended = Some(report);
        }
        observer.round_finished(self.report(), &self.simulation);
        evaluated?;
        self.check_goal(observer);
        Ok(true)
    }

    /// The last round of a report, if the run is in its first phase and the round reached the goal.
    fn reaches_goal(&self, report: &Report) -> Option<usize> {
        let first = report.goal_round.is_none() && self.simulation.phase().0 == 0;
        let last = report.history.last().filter(|_| first)?;
        let (found, goal) = (last.chosen_by()?, self.settings.goal?);
        (found >= goal).then_some(last.number)
    }

    /// Ends the first phase if the round just trained reached the goal.
    fn check_goal(&mut self, observer: &mut dyn Observer) {
        if let Some(round) = self.reaches_goal(&self.report) {
            let to_come = self.rounds_left();
            self.report.goal_round = Some(round);
            // The last phase has no end: all rounds are left out, however many there are.
            self.left_out = self.simulation.end_phase().unwrap_or(usize::MAX);
            observer.goal_reached(to_come - self.rounds_left());
        }
    }

    /// How many rounds are still to be trained.
    pub fn rounds_left(&self) -> usize {
        let last = self.rounds.saturating_sub(self.left_out);
        last.saturating_sub(self.report.rounds())
    }

    /// The rounds until now, without the measures that are taken at the end.
    pub fn report(&self) -> &Report {
        self.ended.as_ref().unwrap_or(&self.report)
    }

    /// Evaluates the model of the last complete round where that was not done, and takes the measures
    /// of the end. The report says that the run was interrupted if rounds are left.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Training`], with the report of the complete rounds: a measure cannot be taken, or
    /// all rounds were skipped.
    pub fn finish(&mut self) -> Result<Report, ExperimentError> {
        let mut report = self.report().clone();
        if self.rounds_left() > 0 {
            report.status = Status::Interrupted;
        }
        let evaluated = self.evaluate_last(&mut report);
        let measured = evaluated.and_then(|()| self.measure(&mut report));
        // Of a run that failed, too.
        let added = self.add_model(&mut report);
        match measured.and(added).and_then(|()| check_trained(&report)) {
            Ok(()) => Ok(report),
            Err(error) => Err(failed(report, error)),
        }
    }

    /// The error of a run that ended at one, with the report of the complete rounds, of which the last
    /// is evaluated if that is possible.
    pub fn fail(&mut self, error: ExperimentError) -> ExperimentError {
        let mut report = self.report().clone();
        // The first error is the one that counts.
        let _ = self.evaluate_last(&mut report);
        let _ = self.add_model(&mut report);
        failed(report, error)
    }

    /// Adds the parameters of the last complete round, the privacy that is spent, and what became of recorded
    /// steps.
    fn add_model(&self, report: &mut Report) -> Result<(), ExperimentError> {
        let (program, goal) = (self.simulation.program(), report.goal_round);
        report.privacy = privacy_spent(program, self.privacy_inputs(), &report.history, goal);
        report.capture = self.simulation.capture_stats();
        report.parameters = self.simulation.parameters()?;
        Ok(())
    }

    fn evaluate_last(&mut self, report: &mut Report) -> Result<(), ExperimentError> {
        let scores = match report.history.last() {
            Some(round) => &round.scores,
            None => &report.scores,
        };
        match scores {
            Some(_) => Ok(()),
            None => self.evaluate(report),
        }
    }

    /// Trains one round.
    fn round(
        &mut self,
        number: usize,
        observer: &mut dyn Observer,
    ) -> Result<Round, ExperimentError> {
        let start = Instant::now();
        let before = self.simulation.cohort_batch();
        let stats = match observer.observes_server() {
            true => self
                .simulation
                .run_round_observed(|value| observer.observe(value)),
            false => self.simulation.run_round(),
        }?;
        let seconds = start.elapsed().as_secs_f64();
        let now = self.simulation.cohort_batch();
        if now < before {
            observer.cohort_batch_reduced(before, now);
        }
        if !self.told_not_replayed
            && let Some(why) = self.simulation.capture_stats().and_then(|s| s.refused)
        {
            observer.step_not_replayed(&why);
            self.told_not_replayed = true;
        }
        Ok(Round::new(number, stats, seconds))
    }

    /// Evaluates the model of the last complete round, on the test set and on validation examples. Models of
    /// clients at parties are evaluated there; if no party answers, there are no results.
    fn evaluate(&mut self, report: &mut Report) -> Result<(), ExperimentError> {
        let Some(tested) = self.tests.run(&mut self.simulation)? else {
            return Ok(());
        };
        report.client_accuracy = vec![None; self.tests.clients];
        for (client, accuracy) in tested.clients {
            report.client_accuracy[client] = Some(accuracy);
        }
        if let Some(round) = report.history.last_mut() {
            round.scores = Some(tested.scores.clone());
        }
        report.scores = Some(tested.scores);
        self.validate(report, &tested.validation)
    }

    /// Evaluates it on validation examples, and takes it in as the best model if it is. A model of the server
    /// and models of clients are measured in two ways: the first evaluation of the others begins anew. Parties
    /// have told how their clients' own models do.
    fn validate(&self, report: &mut Report, told: &[(usize, f64)]) -> Result<(), ExperimentError> {
        let (Some(validation), Some(round)) = (&self.validation, report.history.last_mut()) else {
            return Ok(());
        };
        let found = match self.simulation.personal_models_are_at_parties() {
            true if told.is_empty() => return Ok(()),
            true => {
                let joined = told.iter().filter(|(k, _)| *k < self.simulation.clients());
                mean(&joined.map(|(_, accuracy)| *accuracy).collect::<Vec<_>>())
            }
            false => validation.accuracy(&self.simulation)?,
        };
        round.validation_accuracy = Some(found);
        let number = round.number;
        let before = report.best.as_ref();
        let before = before.filter(|best| same_models(&report.history, best.round, number));
        if before.is_none_or(|before| found > before.validation_accuracy) {
            report.best = Some(self.best_model(number, found)?);
        }
        Ok(())
    }

    /// The model of the last complete round as the best one, which has so much on validation examples.
    pub(super) fn best_model(
        &self,
        round: usize,
        validation_accuracy: f64,
    ) -> Result<Best, ExperimentError> {
        let (mut parameters, mut clients) = (vec![], OwnTensors::new());
        if self.settings.keep.best() {
            parameters = self.simulation.parameters()?;
            // Those at parties stay there.
            if !self.simulation.personal_models_are_at_parties()
                && let Some(models) = ClientModels::of(&self.simulation)?
            {
                clients = models.all()?;
            }
        }
        Ok(Best {
            round,
            validation_accuracy,
            parameters,
            clients,
        })
    }

    /// Takes the measures of the end.
    fn measure(&self, report: &mut Report) -> Result<(), ExperimentError> {
        if self.simulation.personal_models_are_at_parties() {
            return Ok(());
        }
        if self.settings.ensemble {
            let together = self.tests.together(&self.simulation)?;
            report.ensemble_accuracy = Some(together.accuracy);
        }
        if self.settings.personal {
            self.simulation
                .visit_personal_models::<RunError>(|models| {
                    for k in models.clients() {
                        let own = self.simulation.personal_parameters(models, k)?;
                        report.personal.extend(own.map(|own| (k, own)));
                    }
                    Ok(())
                })?;
        }
        if self.settings.adversary {
            report.adversary = self.adversary()?;
        }
        Ok(())
    }
}

/// Whether two rounds were evaluated with models of the same kind: the server's, or the clients' own.
fn same_models(history: &[Round], one: usize, other: usize) -> bool {
    let personal = |number| {
        let round = history.iter().find(|round| round.number == number)?;
        Some(round.scores.as_ref()?.personal)
    };
    personal(one) == personal(other)
}

/// Fails for a run without any trained round, unless rounds are left.
fn check_trained(report: &Report) -> Result<(), ExperimentError> {
    let rounds = report.rounds();
    match report.status {
        Status::Complete if rounds > 0 && !report.trained() => {
            Err(ExperimentError::NothingTrained { rounds })
        }
        _ => Ok(()),
    }
}

/// The error of a run with its report.
fn failed(mut report: Report, source: ExperimentError) -> ExperimentError {
    if !report.trained() {
        report = report.without_scores();
    }
    report.status = Status::Failed;
    ExperimentError::Training {
        source: Box::new(source),
        report: Box::new(report),
    }
}

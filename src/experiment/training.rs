//! The rounds of a run.

use std::time::Instant;

use super::{Best, ExperimentError, Observer, Report, Round, Run, Status};

impl Run {
    /// Trains the run's rounds, evaluates the model in the course of them and at the end, and takes
    /// the measures that the settings ask for.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Training`], with the report of the complete rounds.
    pub fn train(&mut self, observer: &mut dyn Observer) -> Result<Report, ExperimentError> {
        let mut report = Report::default();
        let trained = self.rounds(&mut report, observer);
        let measured = trained.and_then(|()| self.measure(&mut report));
        let parameters = self.simulation.parameters().map_err(ExperimentError::from);
        let measured = measured.and(parameters.map(|parameters| report.parameters = parameters));
        report.capture = self.simulation.capture_stats();
        match measured {
            Ok(()) => Ok(report),
            Err(source) => {
                report.status = Status::Failed;
                Err(ExperimentError::Training {
                    source: Box::new(source),
                    report: Box::new(report),
                })
            }
        }
    }

    /// Trains until the last round, the observer's wish or a round that fails. The model of the last
    /// complete round is evaluated in any case.
    fn rounds(
        &mut self,
        report: &mut Report,
        observer: &mut dyn Observer,
    ) -> Result<(), ExperimentError> {
        let mut evaluated = false;
        let trained = self.train_rounds(report, observer, &mut evaluated);
        if evaluated {
            return trained;
        }
        // The first error is the one that counts.
        trained.and(self.evaluate(report))
    }

    fn train_rounds(
        &mut self,
        report: &mut Report,
        observer: &mut dyn Observer,
        evaluated: &mut bool,
    ) -> Result<(), ExperimentError> {
        let (mut goal, mut last) = (self.settings.goal, self.rounds);
        while report.rounds() < last {
            if observer.stop_requested() {
                report.status = Status::Interrupted;
                break;
            }
            let number = report.rounds() + 1;
            report.history.push(self.round(number, observer)?);
            *evaluated = number.is_multiple_of(self.settings.eval_every) || number == last;
            let mut failed = None;
            if *evaluated {
                failed = self.evaluate(report).err();
            }
            observer.round_finished(report, &self.simulation);
            if let Some(error) = failed {
                return Err(error);
            }
            let accuracy = report.history.last().and_then(Round::chosen_by);
            let reached = accuracy.is_some_and(|found| goal.is_some_and(|goal| found >= goal));
            if reached && self.simulation.phase().0 == 0 {
                goal = None;
                let to_come = last - number;
                let left_out = self.simulation.end_phase().unwrap_or(to_come).min(to_come);
                report.goal_round = Some(number);
                last -= left_out;
                observer.goal_reached(left_out);
            }
        }
        Ok(())
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
        Ok(Round::new(number, stats, seconds))
    }

    /// Evaluates the model of the last complete round, on the test set and on validation examples.
    fn evaluate(&self, report: &mut Report) -> Result<(), ExperimentError> {
        let tested = self.tests.run(&self.simulation)?;
        report.client_accuracy = vec![None; self.tests.clients()];
        for (client, accuracy) in tested.clients {
            report.client_accuracy[client] = Some(accuracy);
        }
        if let Some(round) = report.history.last_mut() {
            round.scores = Some(tested.scores.clone());
        }
        report.scores = Some(tested.scores);
        self.validate(report)
    }

    /// Evaluates it on validation examples, and takes it in as the best model if it is.
    fn validate(&self, report: &mut Report) -> Result<(), ExperimentError> {
        let (Some(validation), Some(round)) = (&self.validation, report.history.last_mut()) else {
            return Ok(());
        };
        let found = validation.accuracy(&self.simulation)?;
        round.validation_accuracy = Some(found);
        let before = report.best.as_ref().map(|best| best.validation_accuracy);
        if before.is_none_or(|before| found > before) {
            report.best = Some(Best {
                round: round.number,
                validation_accuracy: found,
                parameters: match self.settings.keep.best() {
                    true => self.simulation.parameters()?,
                    false => vec![],
                },
            });
        }
        Ok(())
    }

    /// Takes the measures of the end.
    fn measure(&self, report: &mut Report) -> Result<(), ExperimentError> {
        if self.settings.ensemble {
            report.ensemble_accuracy = Some(self.tests.ensemble(&self.simulation)?);
        }
        if self.settings.personal
            && let Some(models) = self.simulation.personal_models()?
        {
            let clients = 0..self.simulation.clients();
            for k in clients {
                let own = self.simulation.personal_parameters(&models, k)?;
                report.personal.extend(own.map(|own| (k, own)));
            }
        }
        if self.settings.adversary {
            report.adversary = self.adversary()?;
        }
        Ok(())
    }
}

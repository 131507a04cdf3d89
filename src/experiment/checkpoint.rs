//! Saves a run between two rounds and restores it.

use std::collections::BTreeMap;

use fedround_simulation::CheckpointError;
use fedround_store::Archive;
use serde::{Deserialize, Serialize};

use super::start::Start;
use super::{Best, ExperimentError, Parameters, Report, Round, Run, Scores, checkpoint_data};

const PROGRESS: &str = "run/progress";
const END: &str = "run/end";

/// What the rest of a run depends on besides its simulation.
#[derive(Deserialize, Serialize)]
struct Progress {
    history: Vec<Round>,
    scores: Option<Scores>,
    client_accuracy: Vec<Option<f64>>,
    goal_round: Option<usize>,
    left_out: usize,
    best: Option<SavedBest>,
}

/// The evaluation after the last round of a run, where others of more rounds have none.
#[derive(Deserialize, Serialize)]
struct End {
    round: Round,
    scores: Option<Scores>,
    client_accuracy: Vec<Option<f64>>,
    goal_round: Option<usize>,
    /// Whether the model after this round is the best.
    best: bool,
}

impl End {
    fn of(report: &Report) -> Option<Self> {
        let round = report.history.last()?.clone();
        let best = report.best.as_ref();
        Some(Self {
            best: best.is_some_and(|best| best.round == round.number),
            round,
            scores: report.scores.clone(),
            client_accuracy: report.client_accuracy.clone(),
            goal_round: report.goal_round,
        })
    }
}

/// The best model; the types of its parameters are the run's.
#[derive(Deserialize, Serialize)]
struct SavedBest {
    round: usize,
    validation_accuracy: f64,
    values: Vec<Vec<f32>>,
    /// For each client, the places of its own tensors in the model's order, with their values.
    clients: BTreeMap<usize, Vec<(usize, Vec<f32>)>>,
}

impl SavedBest {
    fn of(best: &Best) -> Self {
        let place = |name: &str| best.parameters.iter().position(|leaf| leaf.0 == name);
        let places = |(&client, own): (&usize, &Parameters)| {
            let own = own.iter();
            let own = own.filter_map(|leaf| Some((place(&leaf.0)?, leaf.2.clone())));
            (client, own.collect())
        };
        Self {
            round: best.round,
            validation_accuracy: best.validation_accuracy,
            values: best.parameters.iter().map(|p| p.2.clone()).collect(),
            clients: best.clients.iter().map(places).collect(),
        }
    }
}

impl Run {
    /// Everything that the rest of the run depends on, as parts of an archive, to which a caller may
    /// add parts of its own before it [writes](Archive::write) a file. It is small beside the
    /// parameters and clients' states that it holds. A run that started from weights also saves their values
    /// each time; with adapters these are the base model, and most of the archive.
    ///
    /// # Errors
    ///
    /// As [`Simulation::save`](fedround_simulation::Simulation::save).
    pub fn save(&self) -> Result<Archive, ExperimentError> {
        let mut archive = self.simulation.save()?;
        let progress = Progress {
            history: self.report.history.clone(),
            scores: self.report.scores.clone(),
            client_accuracy: self.report.client_accuracy.clone(),
            goal_round: self.report.goal_round,
            left_out: self.left_out,
            best: self.report.best.as_ref().map(SavedBest::of),
        };
        let inserted = archive.insert(PROGRESS, &progress);
        inserted.map_err(CheckpointError::from)?;
        checkpoint_data::save(&self.data, &mut archive)?;
        if let Some(end) = self.ended.as_ref().and_then(End::of) {
            let inserted = archive.insert(END, &end);
            inserted.map_err(CheckpointError::from)?;
        }
        self.start.save(&mut archive)?;
        Ok(archive)
    }

    /// Goes to where another run of the same experiment was [saved](Self::save). Both may have
    /// another number of rounds, of threads, and of rounds between evaluations.
    ///
    /// # Errors
    ///
    /// As [`Simulation::restore`](fedround_simulation::Simulation::restore), or the run has taken other values
    /// from files than the saved one. A run that
    /// [`prepare_to_restore`](super::Experiment::prepare_to_restore) made has those of the saved one, if that
    /// took any. The archive of an earlier version of fedround may not say what was taken; it is then believed
    /// to be the same, and so are test examples and the contents of image files. After an error the run is as it was,
    /// unless only the best model could not be made again from the restored values.
    pub fn restore(&mut self, archive: &Archive) -> Result<(), ExperimentError> {
        let progress = archive.get(PROGRESS).map_err(CheckpointError::from)?;
        let end = archive.find(END).map_err(CheckpointError::from)?;
        if let Some(start) = Start::saved(archive)?
            && !start.has_values_of(&self.start)
        {
            let (found, expected) = match start.is_empty() {
                true => ("none", "some"),
                false => (
                    "its own, which `Experiment::prepare_to_restore` gives to a run",
                    "none or others",
                ),
            };
            let other = CheckpointError::Other {
                what: "set of initial values (from the files of `weights` and `server_state`)"
                    .to_owned(),
                expected: expected.to_owned(),
                found: found.to_owned(),
            };
            return Err(other.into());
        }
        checkpoint_data::check(&self.data, archive)?;
        self.simulation.restore(archive)?;
        let Progress {
            history,
            scores,
            client_accuracy,
            goal_round,
            left_out,
            best,
        } = progress;
        self.left_out = left_out;
        self.report = Report {
            history,
            scores,
            client_accuracy,
            goal_round,
            best: best.map(|best| self.best(best)).transpose()?,
            ..Report::default()
        };
        let end = end.filter(|_| self.rounds_left() == 0);
        self.ended = end.map(|end| self.end(end)).transpose()?;
        Ok(())
    }

    /// The report of a run that had ended.
    fn end(&self, end: End) -> Result<Report, ExperimentError> {
        let mut report = self.report.clone();
        if let (true, Some(found)) = (end.best, end.round.validation_accuracy) {
            report.best = Some(self.best_model(end.round.number, found)?);
        }
        report.history.pop();
        report.history.push(end.round);
        report.scores = end.scores;
        report.client_accuracy = end.client_accuracy;
        report.goal_round = end.goal_round;
        Ok(report)
    }

    fn best(&self, saved: SavedBest) -> Result<Best, ExperimentError> {
        let leaves = self.simulation.parameters()?;
        let with = |i: usize, values: Vec<f32>| {
            let (name, ty, _) = leaves.get(i)?;
            Some((name.clone(), ty.clone(), values))
        };
        let own = |own: Vec<(usize, Vec<f32>)>| {
            let own = own.into_iter();
            own.filter_map(|(i, values)| with(i, values)).collect()
        };
        let values = saved.values.into_iter().enumerate();
        let clients = saved.clients.into_iter();
        Ok(Best {
            round: saved.round,
            validation_accuracy: saved.validation_accuracy,
            parameters: values.filter_map(|(i, values)| with(i, values)).collect(),
            clients: clients.map(|(k, tensors)| (k, own(tensors))).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fedround::algorithms::FedRep;
    use fedround::data::{Partition, synth::SynthDigits};
    use fedround::experiment::{Experiment, write_model};

    use super::{PROGRESS, Progress};

    fn experiment(seed: u64) -> Experiment {
        let data = SynthDigits {
            train: 100,
            test: 20,
            ..SynthDigits::default()
        };
        Experiment::new(FedRep::default())
            .model("2nn")
            .data(data.generate())
            .clients(4)
            .partition(Partition::Iid)
            .seed(seed)
            .threads(1)
    }

    /// Personal parts of clients that have not taken part yet start from the weights.
    #[test]
    fn a_run_from_other_weights_cannot_be_restored() {
        let dir = tempfile::tempdir().unwrap();
        let write = |seed: u64, file: &Path| {
            let report = experiment(seed).run(1).unwrap();
            write_model(file, &report.parameters).unwrap();
        };
        let (file, moved) = (dir.path().join("a"), dir.path().join("b"));
        write(2, &file);
        let prepare = |file: &Path| experiment(1).weights(file).prepare(2).unwrap();
        let mut run = prepare(&file);
        run.step(&mut ()).unwrap();
        let saved = run.save().unwrap();
        std::fs::rename(&file, &moved).unwrap();
        prepare(&moved).restore(&saved).unwrap();

        // Checkpoints did not always say what a run had taken.
        let mut old = run.simulation().save().unwrap();
        let progress: Progress = saved.get(PROGRESS).unwrap();
        old.insert(PROGRESS, &progress).unwrap();
        prepare(&moved).restore(&old).unwrap();
        let old_run = experiment(1).weights(moved.as_path());
        let mut old_run = old_run.prepare_to_restore(2, &old).unwrap();
        old_run.restore(&old).unwrap();

        write(3, &file);
        let mut other = prepare(&file);
        let before = other.simulation().parameters().unwrap();
        let error = other.restore(&saved).unwrap_err().to_string();
        assert!(error.contains("prepare_to_restore"), "{error}");
        assert!(other.simulation().parameters().unwrap() == before);
        let error = experiment(1).prepare(2).unwrap().restore(&saved);
        assert!(error.is_err());

        let again = experiment(1).weights(file);
        let mut again = again.prepare_to_restore(2, &saved).unwrap();
        again.restore(&saved).unwrap();
        let (whole, again) = (run.train(&mut ()).unwrap(), again.train(&mut ()).unwrap());
        assert!(whole.parameters == again.parameters, "other bits");
    }

    #[test]
    fn a_run_from_weights_cannot_be_restored_as_one_without() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        let mut run = experiment(1).prepare(2).unwrap();
        run.step(&mut ()).unwrap();
        let saved = run.save().unwrap();
        experiment(1).prepare(2).unwrap().restore(&saved).unwrap();
        write_model(&file, &experiment(2).run(1).unwrap().parameters).unwrap();
        let with = || experiment(1).weights(file.as_path());
        let prepared = [with().prepare(2), with().prepare_to_restore(2, &saved)];
        for run in prepared {
            let error = run.unwrap().restore(&saved).unwrap_err().to_string();
            assert!(
                error.contains("it has none, and this run has some"),
                "{error}"
            );
        }
    }
}

//! Saves a run between two rounds and restores it.

use std::collections::BTreeMap;

use fedround_simulation::CheckpointError;
use fedround_store::Archive;
use serde::{Deserialize, Serialize};

use super::start::Start;
use super::{Best, ExperimentError, Parameters, Report, Round, Run, Scores};

const PROGRESS: &str = "run/progress";

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

/// The best model; the types of its parameters are the run's.
#[derive(Deserialize, Serialize)]
struct SavedBest {
    round: usize,
    validation_accuracy: f64,
    values: Vec<Vec<f32>>,
    /// Of each client, the places of its own tensors in the model's order, with their values.
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
    /// parameters and clients' states that it holds.
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
        self.start.save(&mut archive)?;
        Ok(archive)
    }

    /// Goes to where another run of the same experiment was [saved](Self::save). Both may have
    /// another number of rounds, of threads, and of rounds between evaluations.
    ///
    /// # Errors
    ///
    /// As [`Simulation::restore`](fedround_simulation::Simulation::restore). The run is then as it
    /// was.
    pub fn restore(&mut self, archive: &Archive) -> Result<(), ExperimentError> {
        let progress = archive.get(PROGRESS).map_err(CheckpointError::from)?;
        let start = Start::saved(archive)?;
        self.simulation.restore(archive)?;
        if let Some(start) = start {
            self.start = start;
        }
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
        Ok(())
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

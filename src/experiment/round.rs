//! What an experiment reports of a round.

use std::collections::BTreeMap;

use fedround_simulation::RoundStats;
use serde::{Deserialize, Serialize};

use super::scores::Scores;

/// A complete round.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Round {
    /// Its number, from 1.
    pub number: usize,
    /// The mean of the losses of which clients took gradients, in the loss's unit.
    pub train_loss: f64,
    /// Local steps over all clients.
    pub client_steps: u64,
    /// Bytes from clients to the server.
    pub bytes_up: u64,
    /// Bytes from the server to clients.
    pub bytes_down: u64,
    /// Bytes from clients to other clients.
    #[serde(default)]
    pub bytes_across: u64,
    /// The mean squared distance of the clients' own models from their mean, where clients mix them.
    #[serde(default)]
    pub consensus: Option<f64>,
    /// The numbers that the algorithm's server has set among its states, by layer and name.
    #[serde(default)]
    pub server_numbers: BTreeMap<String, f64>,
    /// Clients that were left out because their updates were not finite, in ascending order.
    pub not_finite: Vec<usize>,
    /// Clients that failed, in ascending order.
    pub failed: Vec<usize>,
    /// Clients that would have arrived after the deadline.
    pub late: Vec<usize>,
    /// Clients that were called in addition, and were not among the fastest.
    pub surplus: Vec<usize>,
    /// Virtual seconds until the server had all that it waited for; `None` without a clock.
    pub virtual_seconds: Option<f64>,
    /// Whether too few clients were there: the model is the one before the round.
    pub skipped: bool,
    /// Seconds of training, without the evaluation.
    pub seconds: f64,
    /// How the model does after it, where that was evaluated.
    pub scores: Option<Scores>,
    /// Its accuracy on validation examples, where there are any and it was evaluated.
    pub validation_accuracy: Option<f64>,
}

impl Round {
    pub(super) fn new(number: usize, stats: RoundStats, seconds: f64) -> Self {
        Self {
            number,
            train_loss: stats.train_loss,
            client_steps: stats.client_steps,
            bytes_up: stats.bytes_up,
            bytes_down: stats.bytes_down,
            bytes_across: stats.bytes_across,
            consensus: stats.consensus,
            server_numbers: stats.server_numbers,
            not_finite: stats.not_finite,
            failed: stats.failed,
            late: stats.late,
            surplus: stats.surplus,
            virtual_seconds: stats.virtual_seconds,
            skipped: stats.skipped,
            seconds,
            scores: None,
            validation_accuracy: None,
        }
    }

    /// The accuracy that the run's choices are made on, where it was evaluated: on validation examples
    /// if there are any, otherwise the [headline](Scores::headline), where there is one.
    pub fn chosen_by(&self) -> Option<f64> {
        let tested = self.scores.as_ref().and_then(Scores::headline);
        self.validation_accuracy.or(tested)
    }
}

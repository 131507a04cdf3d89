//! The rounds of a run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use fedround_exec::{Evaluation, RoundStats, RunError, Simulation};
use fedround_metrics::progress::Point;

use super::folder::Folder;
use super::goal::Goal;
use super::local::{Tested, Tests};
use super::progress::Progress;
use super::speech::Spoken;
use super::summary::{Metric, Status};
use crate::error::CliError;
use crate::settings::Settings;

/// What the rounds came to.
pub(super) struct Outcome {
    pub status: Status,
    /// Why they stopped early.
    pub failure: Option<RunError>,
    /// Completed.
    pub rounds: usize,
    /// Of the last complete round.
    pub train_loss: f64,
    /// Of the parameters after the last complete round.
    pub tested: Tested,
    /// Accuracy of the clients' models together after the last complete round, if it was asked for.
    pub ensemble: Option<f64>,
    /// The test accuracy in the course of the rounds.
    pub curve: Vec<Point>,
    /// The largest BLEU-4 of all evaluations.
    pub best_bleu: Option<f64>,
    /// The evaluation that ended the first phase.
    pub rounds_to_goal: Option<usize>,
    /// The accuracy of each class at the same points.
    pub classes: Vec<Vec<f64>>,
    pub client_steps: u64,
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// Of training, without evaluation.
    pub seconds: f64,
}

impl Outcome {
    /// Of no rounds.
    fn new() -> Self {
        Self {
            status: Status::Complete,
            failure: None,
            rounds: 0,
            train_loss: f64::NAN,
            tested: Tested {
                global: Evaluation {
                    loss: f64::NAN,
                    accuracy: f64::NAN,
                    class_accuracy: vec![],
                    predictions: vec![],
                },
                local: None,
                newcomer: None,
                clients: vec![],
                spoken: Spoken::default(),
            },
            ensemble: None,
            curve: vec![],
            best_bleu: None,
            rounds_to_goal: None,
            classes: vec![],
            client_steps: 0,
            bytes_up: 0,
            bytes_down: 0,
            seconds: 0.0,
        }
    }

    fn add(&mut self, stats: &RoundStats, seconds: f64) {
        self.rounds += 1;
        self.train_loss = stats.train_loss;
        self.client_steps += stats.client_steps;
        self.bytes_up += stats.bytes_up;
        self.bytes_down += stats.bytes_down;
        self.seconds += seconds;
    }

    /// Takes in how the parameters do after the last complete round.
    fn test(&mut self, tested: Result<Tested, RunError>) {
        let tested = match tested {
            Ok(tested) => tested,
            Err(error) => return self.fail(error),
        };
        self.curve.push(Point {
            round: self.rounds,
            bytes: self.bytes_up + self.bytes_down,
            value: tested.global.accuracy,
        });
        if let Some([.., bleu]) = tested.spoken.bleu {
            self.best_bleu = Some(self.best_bleu.map_or(bleu, |best| best.max(bleu)));
        }
        self.classes.push(tested.global.class_accuracy.clone());
        self.tested = tested;
    }

    /// Ends with an error, the first one.
    fn fail(&mut self, error: RunError) {
        self.status = Status::Failed;
        self.failure.get_or_insert(error);
    }

    /// Local steps of all clients per second of training; 0 before any.
    pub fn steps_per_second(&self) -> f64 {
        if self.seconds > 0.0 {
            self.client_steps as f64 / self.seconds
        } else {
            0.0
        }
    }
}

/// Trains until the last round, Ctrl-C or a round that fails. Every complete round is in the
/// folder's metrics by then.
pub(super) fn train(
    simulation: &mut Simulation,
    tests: &Tests,
    settings: &Settings,
    folder: &Folder,
    progress: &mut Progress,
    stop: &AtomicBool,
) -> Result<Outcome, CliError> {
    let mut outcome = Outcome::new();
    let mut evaluated = false;
    let (mut goal, mut last) = (Goal::of(settings), settings.rounds);
    while outcome.rounds < last {
        if stop.load(Ordering::SeqCst) {
            outcome.status = Status::Interrupted;
            break;
        }
        let start = Instant::now();
        let group = simulation.cohort_batch();
        let stats = match simulation.run_round() {
            Ok(stats) => stats,
            Err(error) => {
                outcome.fail(error);
                break;
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        if simulation.cohort_batch() < group {
            progress.note(&format!(
                "warning: the device's memory does not hold {group} clients in one graph; {} from now on (--cohort-batch)",
                simulation.cohort_batch()
            ));
        }
        outcome.add(&stats, seconds);
        let round = outcome.rounds;
        evaluated = round.is_multiple_of(settings.eval_every) || round == last;
        if evaluated {
            outcome.test(tests.run(simulation));
        }
        let seen = (evaluated && outcome.failure.is_none()).then_some(&outcome.tested);
        folder.metric(&Metric::new(round, &stats, seconds, seen))?;
        progress.round(&outcome, evaluated);
        if outcome.failure.is_some() {
            break;
        }
        let accuracy = outcome.tested.global.accuracy;
        if evaluated && let Some(left_out) = goal.reached(simulation, accuracy, last - round) {
            outcome.rounds_to_goal = Some(round);
            last -= left_out;
            progress.leave_out(left_out);
        }
    }
    if !evaluated {
        outcome.test(tests.run(simulation));
    }
    if settings.ensemble && outcome.failure.is_none() {
        match tests.ensemble(simulation) {
            Ok(accuracy) => outcome.ensemble = Some(accuracy),
            Err(error) => outcome.fail(error),
        }
    }
    Ok(outcome)
}

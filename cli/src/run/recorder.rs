//! Writes each round to the run folder, and shows it.

use fedround::experiment::{Observer, Report, Round, Scores, privacy_spent};
use fedround::privacy::AccountingInputs;
use fedround_simulation::Simulation;

use super::folder::Folder;
use super::metric::Metric;
use super::phases::{not_begun, phase};
use super::progress::Progress;
use crate::error::CliError;

/// Writes each round to the folder and shows it.
pub(super) struct Recorder<'a> {
    pub privacy_inputs: AccountingInputs,
    pub folder: &'a Folder,
    pub progress: &'a mut Progress,
    /// Whether the last evaluation was of a model that no phase had trained.
    pub untrained: bool,
    /// A round could not be written.
    pub failed: Option<CliError>,
}

impl Observer for Recorder<'_> {
    fn round_finished(&mut self, report: &Report, simulation: &Simulation) {
        if let Some(round) = report.history.last() {
            let program = simulation.program();
            let (inputs, goal) = (self.privacy_inputs, report.goal_round);
            let spent = privacy_spent(program, inputs, &report.history, goal);
            let phase = phase(program, round.number, report.goal_round);
            let metric = Metric::of(round, phase, spent.as_ref());
            self.failed = self.folder.metric(&metric).err();
            self.warn_of_clients(report, round);
            if round.skipped && report.skipped() == 1 {
                let number = round.number;
                let text = "too few clients were there (--min-clients), the algorithm chose nobody, or an earlier process had told noise in it; later rounds like it are counted in the summary";
                self.progress.warn(&format!(
                    "round {number} is skipped and the model stays unchanged: {text}"
                ));
            }
        }
        let (last, goal) = (report.history.last(), report.goal_round);
        let phase = last.and_then(|last| phase(simulation.program(), last.number, goal));
        if let Some(last) = last.filter(|last| last.scores.is_some()) {
            self.untrained = not_begun(simulation, last.number, goal).is_some();
            if last.scores.as_ref().is_some_and(are_untested) {
                self.progress.tell_untested();
            }
        }
        self.progress
            .round(report, phase.as_deref(), self.untrained);
    }

    fn cohort_batch_reduced(&mut self, before: usize, now: usize) {
        self.progress.warn(&format!(
            "the device's memory does not hold {before} clients in one graph; {now} from now on (--cohort-batch)"
        ));
    }

    fn step_not_replayed(&mut self, why: &str) {
        self.progress.warn(&format!(
            "a local step runs operation by operation instead of as a recorded graph: {why} (--graphs)"
        ));
    }

    fn goal_reached(&mut self, left_out: usize) {
        self.progress.leave_out(left_out);
    }
}

impl Recorder<'_> {
    /// Says the first time that clients' updates are not finite.
    fn warn_of_clients(&self, report: &Report, round: &Round) {
        let mut before = report.history.iter().rev().skip(1);
        if round.not_finite.is_empty() || before.any(|round| !round.not_finite.is_empty()) {
            return;
        }
        let clients: Vec<String> = round.not_finite.iter().map(ToString::to_string).collect();
        self.progress.warn(&format!(
            "round {}: updates that are not finite are left out, of clients {}; lower the learning rate (--set lr=..), or --on-nan stop ends such a run",
            round.number,
            clients.join(", "),
        ));
    }
}

/// Whether clients have models of their own and none of them has test examples. Of clients at parties that are
/// away it is not known.
fn are_untested(scores: &Scores) -> bool {
    scores.personal && scores.local.is_none() && scores.missing.is_empty()
}

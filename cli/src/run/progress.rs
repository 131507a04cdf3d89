//! Progress on stderr: a bar on a terminal, a line now and then elsewhere.

use std::io::{IsTerminal, stderr};
use std::path::Path;

use fedround::experiment::{Report, Scores};
use indicatif::{ProgressBar, ProgressStyle};

use crate::settings::Settings;
use crate::settings::auxiliaries::named;
use crate::terminal::{grouped, in_rounds, loss, percent, tell};

/// Lines that a run prints where there is no terminal, and one of many runs.
const LINES: usize = 10;
const LINES_OF_MANY: usize = 4;

/// How far a run is, or one run after another.
pub(crate) struct Progress {
    show: Show,
    /// What is in front of every line of the current run.
    title: String,
    /// Rounds of the runs before it.
    before: usize,
    /// Rounds of a run.
    rounds: usize,
    /// Lines that a run prints.
    lines: usize,
    /// Rounds between lines.
    every: usize,
    /// Client-steps of the current run, and the seconds that they took.
    steps: u64,
    seconds: f64,
    /// Whether it was said that nothing tests the clients' own models.
    told_untested: bool,
}

enum Show {
    Nothing,
    Bar(ProgressBar),
    Lines,
}

impl Progress {
    /// Says what is about to run.
    pub fn of_run(settings: &Settings, dir: &Path, parameters: usize, quiet: bool) -> Self {
        if !quiet {
            tell!(
                "{} trains {} ({} parameters) on {}, {} clients by {}; writing {}",
                settings.spec,
                named(&settings.model, &settings.run.auxiliaries),
                grouped(parameters as u64),
                settings.data.name(),
                settings.run.clients,
                settings.run.partition,
                dir.display(),
            );
        }
        Self::new(settings.rounds, 1, quiet)
    }

    /// The progress of `runs` runs, which have this number of rounds together.
    pub fn new(rounds: usize, runs: usize, quiet: bool) -> Self {
        let show = match (quiet, stderr().is_terminal()) {
            (true, _) => Show::Nothing,
            (false, false) => Show::Lines,
            (false, true) => {
                let template = "round {pos}/{len} {bar:24} {msg}  {eta} left";
                let style = ProgressStyle::with_template(template);
                let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
                Show::Bar(ProgressBar::new(rounds as u64).with_style(style))
            }
        };
        let lines = if runs == 1 { LINES } else { LINES_OF_MANY };
        Self {
            show,
            title: String::new(),
            before: 0,
            rounds,
            lines,
            every: rounds.div_ceil(lines),
            steps: 0,
            seconds: 0.0,
            told_untested: false,
        }
    }

    /// From now on rounds are those of the next run, of so many.
    pub fn start(&mut self, before: usize, rounds: usize, title: &str) {
        self.before = before;
        self.rounds = rounds;
        self.every = rounds.div_ceil(self.lines);
        self.title = format!("{title}  ");
        (self.steps, self.seconds) = (0, 0.0);
    }

    /// Shows the last complete round of a report, without the accuracy of an untrained model.
    pub(super) fn round(&mut self, report: &Report, phase: Option<&str>, untrained: bool) {
        let Some(last) = report.history.last() else {
            return;
        };
        self.steps += last.client_steps;
        self.seconds += last.seconds;
        let message = || {
            let scores = report.scores.as_ref().filter(|_| !untrained);
            let accuracy = scores.and_then(Scores::headline).unwrap_or(f64::NAN);
            let speed = match self.seconds > 0.0 {
                true => self.steps as f64 / self.seconds,
                false => 0.0,
            };
            let loss = loss(last.train_loss);
            let phase = phase.map_or(String::new(), |phase| format!("{phase}  "));
            format!(
                "{phase}{loss}accuracy {}  {} client-steps/s",
                percent(accuracy),
                grouped(speed as u64),
            )
        };
        let evaluated = last.scores.is_some();
        let (round, rounds, title) = (last.number, self.rounds, &self.title);
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => {
                bar.set_message(format!("{title}{}", message()));
                bar.set_position((self.before + round) as u64);
            }
            // Close to a round that is evaluated, so that lines show a fresh accuracy.
            Show::Lines => {
                let due = round.is_multiple_of(self.every) || round == rounds;
                if due || (round == 1 && evaluated && title.is_empty()) {
                    tell!("{title}round {round}/{rounds}  {}", message());
                }
            }
        }
    }

    /// Says that the goal is reached, and how many of the rounds to come will not be.
    pub fn leave_out(&mut self, rounds: usize) {
        self.before += rounds;
        self.rounds -= rounds;
        let (title, rounds) = (&self.title, in_rounds(rounds));
        self.note(&format!("{title}the goal is reached: {rounds} left out"));
    }

    /// Says that nothing tests the clients' own models, once of all runs. It is the reason why a result is
    /// missing, so that it is said where nothing else is.
    pub(super) fn tell_untested(&mut self) {
        if std::mem::replace(&mut self.told_untested, true) {
            return;
        }
        let text = "note: no client has test examples of its own, so that the clients' own models are not tested; choose data or a partition that gives clients some, or test one of the models on the whole test set: fedround eval RUN --client K";
        match &self.show {
            Show::Nothing => tell!("{text}"),
            _ => self.note(text),
        }
    }

    /// Says something above the bar.
    pub fn note(&self, text: &str) {
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => bar.suspend(|| tell!("{text}")),
            Show::Lines => tell!("{text}"),
        }
    }

    /// Says something that nobody should miss.
    pub fn warn(&self, text: &str) {
        match &self.show {
            Show::Nothing => tell!("warning: {text}"),
            _ => self.note(&format!("warning: {text}")),
        }
    }

    /// Clears the bar.
    pub fn finish(&self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
    }
}

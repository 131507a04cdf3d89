//! Progress on stderr: a bar on a terminal, a line now and then elsewhere.

use std::io::{IsTerminal, stderr};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

use super::train::Outcome;
use crate::cli::output::{grouped, percent};
use crate::cli::settings::Settings;

/// Lines that a run prints where there is no terminal.
const LINES: usize = 10;

pub(super) enum Progress {
    Quiet,
    Bar(ProgressBar),
    Lines { rounds: usize, every: usize },
}

impl Progress {
    /// Says what is about to run.
    pub fn new(settings: &Settings, dir: &Path, parameters: usize, quiet: bool) -> Self {
        if quiet {
            return Self::Quiet;
        }
        eprintln!(
            "{} trains {} ({} parameters) on {}, {} clients by {}; writing {}",
            settings.spec,
            settings.model,
            grouped(parameters as u64),
            settings.data,
            settings.clients,
            settings.partition,
            dir.display(),
        );
        let rounds = settings.rounds;
        if !stderr().is_terminal() {
            let every = rounds.div_ceil(LINES);
            return Self::Lines { rounds, every };
        }
        let template = "round {pos}/{len} {bar:24} {msg}  {eta} left";
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Self::Bar(ProgressBar::new(rounds as u64).with_style(style))
    }

    /// Shows a complete round.
    pub fn round(&mut self, outcome: &Outcome, evaluated: bool) {
        let message = || {
            format!(
                "loss {:.4}  accuracy {}  {} client-steps/s",
                outcome.train_loss,
                percent(outcome.tested.global.accuracy),
                grouped(outcome.steps_per_second() as u64),
            )
        };
        let round = outcome.rounds;
        match self {
            Self::Quiet => {}
            Self::Bar(bar) => {
                bar.set_message(message());
                bar.set_position(round as u64);
            }
            // Close to a round that is evaluated, so that lines show a fresh accuracy.
            Self::Lines { rounds, every } => {
                let due = round.is_multiple_of(*every) || round == *rounds;
                if due || (round == 1 && evaluated) {
                    eprintln!("round {round}/{rounds}  {}", message());
                }
            }
        }
    }

    /// Clears the bar.
    pub fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

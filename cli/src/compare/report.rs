//! A comparison as numbers.

use std::path::Path;

use fedround::experiment::Status;
use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::differences::{Difference, differences};
use super::grid::{Cell, Grid};
use super::quantity::{Quantity, Target};
use super::record::Record;
use super::select::choose;
use super::statistics::{Row, Spread, complete};
use crate::run::Models;
use crate::settings::Settings;
use crate::terminal::command_line::{command_line, command_line_into};

/// `comparison.json`.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Comparison {
    pub data: String,
    pub partition: String,
    pub clients: Counts,
    pub model: String,
    pub rounds: Counts,
    pub seeds: Vec<u64>,
    /// The accuracy that was to be reached: the user's, or the first algorithm's own.
    pub target: Option<f64>,
    /// What of a run was to reach it.
    #[serde(default)]
    pub target_of: Quantity,
    pub algorithms: Vec<Row>,
    /// The difference of each algorithm from the first one, over seeds.
    #[serde(default)]
    pub differences: Vec<Difference>,
    /// All that were tried, where values of hyper-parameters are selected: `algorithms` has the best of
    /// each on validation examples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Row>,
    pub runs: Vec<RunRow>,
    pub out: String,
    /// What a shell is told for the same comparison.
    #[serde(default)]
    pub command: String,
}

/// A line of `comparison.csv`.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct RunRow {
    pub algorithm: String,
    pub seed: u64,
    pub status: String,
    pub rounds: Option<usize>,
    /// The accuracy of what the algorithm trains, as `accuracy_of` says.
    pub accuracy: Option<f64>,
    pub accuracy_of: Option<Models>,
    pub best_accuracy: Option<f64>,
    pub test_accuracy: Option<f64>,
    pub best_test_accuracy: Option<f64>,
    pub best_round: Option<usize>,
    /// On validation examples, and what the model that it chooses has on test examples.
    pub validation_accuracy: Option<f64>,
    pub chosen_test_accuracy: Option<f64>,
    pub local_accuracy: Option<f64>,
    pub rounds_to_target: Option<usize>,
    pub bytes_to_target: Option<u64>,
    pub bytes_up: Option<u64>,
    pub bytes_down: Option<u64>,
    /// From clients to other clients.
    pub bytes_across: Option<u64>,
    /// How long training took.
    pub seconds: Option<f64>,
    pub error: Option<String>,
    pub folder: String,
}

impl Comparison {
    pub(super) fn new(grid: &Grid, cells: &[Cell], records: &[Option<Record>], dir: &Path) -> Self {
        let shared = &grid.shared;
        let chosen = choose(&grid.algorithms, |i| runs_of(i, cells, records));
        let tried = grid.algorithms.len();
        let compared = chosen.iter().map(|&i| {
            let name = grid.algorithms[i].name.as_str();
            (name, runs_of(i, cells, records))
        });
        let compared: Vec<_> = compared.collect();
        let all: Vec<&Record> = compared
            .iter()
            .flat_map(|(_, runs)| complete(runs))
            .collect();
        let of = Quantity::common(&all);
        let accuracy = shared.target.or_else(|| {
            let (_, first) = compared.first()?;
            Some(Spread::of(complete(first).filter_map(|run| of.of(run)))?.mean)
        });
        let target = accuracy.map(|accuracy| Target { accuracy, of });
        let row = |i: usize| {
            let (entrant, runs) = (&grid.algorithms[i], runs_of(i, cells, records));
            Row::new(&entrant.name, &entrant.spec, &runs, target)
        };
        Self {
            algorithms: chosen.iter().map(|&i| row(i)).collect(),
            differences: differences(&compared, of),
            target_of: of,
            candidates: match tried > chosen.len() {
                true => (0..tried).map(row).collect(),
                false => vec![],
            },
            // Without the folder it would begin anew.
            command: command_line_into(dir),
            ..Self::about((shared, &grid.seeds, target), cells, records, dir)
        }
    }

    /// The runs of entrants that have no more in common than their seeds, by name and spec; what they have in
    /// common is told as the first one's.
    pub fn of_entrants(
        entrants: &[(String, &Settings)],
        seeds: &[u64],
        cells: &[Cell],
        records: &[Option<Record>],
        dir: &Path,
    ) -> Option<Self> {
        let (_, first) = entrants.first()?;
        let rows = entrants.iter().enumerate().map(|(i, (name, settings))| {
            Row::new(name, &settings.spec, &runs_of(i, cells, records), None)
        });
        let several = |of: &dyn Fn(&Settings) -> String| {
            let mut all: Vec<String> = entrants.iter().map(|(_, own)| of(own)).collect();
            all.sort_unstable();
            all.dedup();
            all.join(" or ")
        };
        Some(Self {
            algorithms: rows.collect(),
            data: several(&|own| own.data.name()),
            partition: several(&|own| own.run.partition.to_string()),
            model: several(&|own| own.model.clone()),
            clients: Counts::of(entrants.iter().map(|(_, own)| own.run.clients)),
            rounds: Counts::of(entrants.iter().map(|(_, own)| own.rounds)),
            ..Self::about((first, seeds, None), cells, records, dir)
        })
    }

    /// Without the algorithms.
    fn about(
        (shared, seeds, target): (&Settings, &[u64], Option<Target>),
        cells: &[Cell],
        records: &[Option<Record>],
        dir: &Path,
    ) -> Self {
        let run =
            |(cell, record): (&Cell, &Option<Record>)| RunRow::new(cell, record.as_ref(), target);
        Self {
            data: shared.data.name(),
            partition: shared.run.partition.to_string(),
            clients: Counts::One(shared.run.clients),
            model: shared.model.clone(),
            rounds: Counts::One(shared.rounds),
            seeds: seeds.to_vec(),
            target: target.map(|target| target.accuracy),
            target_of: Quantity::default(),
            algorithms: vec![],
            differences: vec![],
            candidates: vec![],
            runs: cells.iter().zip(records).map(run).collect(),
            out: dir.display().to_string(),
            command: command_line(),
        }
    }
}

impl RunRow {
    fn new(cell: &Cell, record: Option<&Record>, target: Option<Target>) -> Self {
        let reached = record.and_then(|run| target?.reached(run));
        let local = record.and_then(|run| run.local_accuracy.as_ref());
        Self {
            algorithm: cell.name.clone(),
            seed: cell.settings.run.seed,
            status: match record.map(|run| run.status) {
                None => "unfinished",
                Some(Status::Complete) => "complete",
                Some(Status::Interrupted) => "interrupted",
                Some(Status::Failed) => "failed",
            }
            .to_owned(),
            rounds: record.map(|run| run.rounds),
            accuracy: record.and_then(|run| run.accuracy),
            accuracy_of: record.map(|run| run.accuracy_of),
            best_accuracy: record.and_then(|run| run.best_accuracy),
            test_accuracy: record.and_then(|run| run.test_accuracy),
            best_test_accuracy: record.and_then(|run| run.best_test_accuracy),
            best_round: record.and_then(|run| run.best_round),
            validation_accuracy: record.and_then(|run| run.validation_accuracy),
            chosen_test_accuracy: record.and_then(|run| run.chosen_test_accuracy),
            local_accuracy: local.map(|local| local.mean),
            rounds_to_target: reached.map(|point| point.round),
            bytes_to_target: reached.map(|point| point.bytes),
            bytes_up: record.map(|run| run.bytes_up),
            bytes_down: record.map(|run| run.bytes_down),
            bytes_across: record.map(|run| run.bytes_across),
            seconds: record.map(|run| run.seconds),
            error: record.and_then(|run| run.error.clone()),
            folder: cell.folder.display().to_string(),
        }
    }
}

/// An algorithm's runs, one for each seed.
pub(crate) fn runs_of<'r>(
    entrant: usize,
    cells: &[Cell],
    records: &'r [Option<Record>],
) -> Vec<Option<&'r Record>> {
    let own = cells.iter().zip(records);
    let own = own.filter(|(cell, _)| cell.entrant == entrant);
    own.map(|(_, record)| record.as_ref()).collect()
}

//! The runs of a grid, one after another.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use fedround_data::partition::Split;
use fedround_data::{Dataset, load};

use super::ended;
use super::grid::{Cell, Grid};
use super::record::{self, Record};
use crate::cli::Cli;
use crate::cli::assets::warn;
use crate::cli::error::CliError;
use crate::cli::run::{DATA_SEED, Folder, Job, Progress, listen};

/// What all runs share.
pub(super) struct Ready<'a> {
    grid: &'a Grid,
    data: Dataset,
    /// Who gets what, by seed.
    splits: BTreeMap<u64, Vec<Split>>,
}

/// Loads the data, deals it for every seed and compiles every algorithm, so that what cannot run
/// is known before anything does. `None` where nothing is left to be run.
pub(super) fn prepare<'a>(
    cli: &Cli,
    grid: &'a Grid,
    cells: &[Cell],
    records: &[Option<Record>],
    quiet: bool,
) -> Result<Option<Ready<'a>>, CliError> {
    let left = || {
        cells
            .iter()
            .zip(records)
            .filter(|(_, record)| !ended(record))
    };
    if left().next().is_none() {
        return Ok(None);
    }
    let shared = &grid.shared;
    let data = load(&shared.data, shared.data_dir.as_deref(), DATA_SEED)?;
    if !quiet {
        data.notes.iter().for_each(|note| eprintln!("note: {note}"));
    }
    let mut splits = BTreeMap::new();
    let mut compiled = vec![false; grid.algorithms.len()];
    for (cell, _) in left() {
        let seed = cell.settings.seed;
        let dealt: &Vec<Split> = match splits.entry(seed) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(free) => {
                free.insert(shared.partition.deal(&data, shared.clients, seed)?)
            }
        };
        if !std::mem::replace(&mut compiled[cell.entrant], true) {
            let algorithm = cell.algorithm(cli)?;
            let job = Job::new(cli, &cell.settings, &*algorithm, &data, dealt)?;
            warn(job.program());
        }
    }
    Ok(Some(Ready { grid, data, splits }))
}

/// Trains whatever has not ended, until Ctrl-C, and reads what came of it.
pub(super) fn train(
    cli: &Cli,
    ready: &Ready<'_>,
    cells: &[Cell],
    records: &mut [Option<Record>],
    dir: &Path,
    quiet: bool,
) -> Result<(), CliError> {
    let stop = listen();
    let left = cells.iter().zip(records);
    let left: Vec<_> = left.filter(|(_, record)| !ended(record)).collect();
    let runs = left.len();
    let mut progress = Progress::new(ready.grid.shared.rounds, runs, quiet);
    progress.note(&format!("{runs} runs, into {}", dir.display()));
    for (i, (cell, record)) in left.into_iter().enumerate() {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let name = &ready.grid.algorithms[cell.entrant].name;
        let title = format!("[{}/{runs}] {name}, seed {}", i + 1, cell.settings.seed);
        progress.start(i, &title);
        let path = dir.join(&cell.folder);
        one(cli, ready, cell, &path, &mut progress, stop)?;
        *record = Record::read(&path)?;
        if let Some(error) = record.as_ref().and_then(|record| record.error.as_deref()) {
            progress.note(&format!("{title} failed: {error}"));
        }
    }
    progress.finish();
    Ok(())
}

/// Trains one run from its start.
fn one(
    cli: &Cli,
    ready: &Ready<'_>,
    cell: &Cell,
    dir: &Path,
    progress: &mut Progress,
    stop: &AtomicBool,
) -> Result<(), CliError> {
    let started = Instant::now();
    let algorithm = cell.algorithm(cli)?;
    let splits = ready.splits.get(&cell.settings.seed);
    let splits = splits.map_or(&[][..], Vec::as_slice);
    let job = Job::new(cli, &cell.settings, &*algorithm, &ready.data, splits)?;
    record::clear(dir)?;
    let folder = Folder::create(dir, job.config())?;
    job.run(&folder, progress, stop, started)?;
    Ok(())
}

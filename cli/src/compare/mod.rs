//! `fedround compare`: a grid of runs, its table and its plots.

mod args;
mod candidate_table;
mod cells;
mod conflicts;
mod counts;
mod differences;
mod entrant;
mod error;
mod files;
mod grid;
mod halving;
mod known_hypers;
mod line;
mod permanent_errors;
mod quantity;
mod record;
mod report;
mod rungs;
mod search;
mod select;
mod statistics;
mod table;
mod train;
mod truncate;
mod unfinished;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fedround::experiment::Status;
use fedround_store::FolderLock;

pub(super) use crate::files::names::COMPARISON;
pub(super) use args::CompareArgs;
pub(super) use conflicts::check as check_conflicts;
pub(super) use differences::probability;
pub(super) use entrant::Entrant;
pub(super) use error::CompareError;
pub(super) use files::{draw_curves, write_curves};
pub(super) use grid::Cell;
pub(super) use line::{Line, Score};
pub(super) use quantity::Quantity;
pub(super) use record::Record;
pub(super) use report::{Comparison, RunRow, runs_of};
pub(super) use search::{Search, Strategy};
pub(super) use select::{candidates, choose};
pub(super) use statistics::{Row, Spread, in_common, mean_curve};
pub(super) use table::tables;
pub(super) use train::{Datasets, Output, prepare, train};

use crate::catalog::Catalog;
use crate::error::CliError;
use crate::files::json;
use crate::run::{CONFIG, lock, lock_if_there, next_free};
use crate::terminal::interrupt::signal;
use crate::terminal::{print, tell};
use grid::Grid;
use halving::train_by_halving;
use record::Same;

pub(super) fn compare(catalog: &Catalog, args: &CompareArgs) -> Result<ExitCode, CliError> {
    run_all(catalog, args, "compare").map(|(_, ended)| ended)
}

/// Runs what is missing of a grid, and writes and prints what all of it comes to. Gives the folder and the
/// exit code. A folder that the user does not name is called after `name` and the data.
pub(super) fn run_all(
    catalog: &Catalog,
    args: &CompareArgs,
    name: &str,
) -> Result<(PathBuf, ExitCode), CliError> {
    let grid = Grid::new(catalog, args)?;
    let mut cells = grid.cells();
    let name = format!("{name}-{}", grid.shared.data.name());
    let begun = Begun::find(catalog, args, &name, (&grid, &cells))?;
    let mut records = begun.records;
    if !args.quiet {
        if let Some(dir) = begun.dir.as_ref().filter(|_| args.out.is_none()) {
            let dir = dir.display();
            tell!("goes on in {dir}, which the same command left unfinished");
        }
        say_what_is_there(&records);
    }
    // Which runs go on for more rounds is known only when others have ended.
    let none = vec![None; cells.len()];
    let there = if grid.halving.is_some() {
        &none
    } else {
        &records
    };
    let mut datasets = Datasets::new(args.quiet);
    let data = prepare(catalog, &cells, there, &mut datasets, begun.dir.as_deref())?;

    // Bad input is behind us: from here on there is something to keep.
    let dir = match begun.dir {
        Some(dir) => {
            fs::create_dir_all(&dir).map_err(CliError::io("create the folder", &dir))?;
            dir
        }
        None => next_free(&name)?,
    };
    let _lock = begun.lock.map_or_else(|| lock(&dir), Ok)?;
    let output = Output {
        dir: &dir,
        quiet: args.quiet,
        keep_states: grid.halving.is_some(),
    };
    match grid.halving {
        None => train(catalog, &data, &cells, &mut records, output)?,
        Some(halving) => {
            train_by_halving(halving, catalog, &data, &mut cells, &mut records, output)?;
        }
    }
    let comparison = Comparison::new(&grid, &cells, &records, &dir);
    files::write(&dir, &comparison, &cells, &grid, &records)?;
    if args.json {
        print(&json(&comparison)?)?;
    } else if !args.quiet {
        print(&table::text(&comparison))?;
    }
    let again = format!("the same command with --out {}", dir.display());
    let ended = end(&records, &dir, &again)?;
    Ok((dir, ended))
}

/// What an earlier call has left, which has no folder where all runs are new.
struct Begun {
    dir: Option<PathBuf>,
    /// Held by nobody else from here on. None where there is no folder yet.
    lock: Option<FolderLock>,
    /// The records of the runs that have ended, by cell.
    records: Vec<Option<Record>>,
}

impl Begun {
    fn find(
        catalog: &Catalog,
        args: &CompareArgs,
        name: &str,
        (grid, cells): (&Grid, &[Cell]),
    ) -> Result<Begun, CliError> {
        let earlier_runs = |out: &Path| {
            let found = earlier(catalog, out, cells, grid.halving.is_some())?;
            check_same(out, grid).map(|()| found)
        };
        if let Some(out) = &args.out {
            return Ok(Begun {
                lock: lock_if_there(out)?,
                records: earlier_runs(out)?,
                dir: Some(out.clone()),
            });
        }
        let left = unfinished::of_this_command(name).and_then(|(dir, lock)| {
            Some(Begun {
                // A file that the command names may have other settings now.
                records: earlier_runs(&dir).ok()?,
                dir: Some(dir),
                lock: Some(lock),
            })
        });
        Ok(left.unwrap_or_else(|| Begun {
            dir: None,
            lock: None,
            records: vec![None; cells.len()],
        }))
    }
}

/// Fails if a folder holds a run, or a comparison of which this one has no algorithm: its tables would be
/// lost by an accident.
fn check_same(dir: &Path, grid: &Grid) -> Result<(), CliError> {
    let dir = dir.to_owned();
    if dir.join(CONFIG).exists() {
        return Err(CompareError::HoldsRun { dir }.into());
    }
    let Ok(text) = fs::read_to_string(dir.join(COMPARISON)) else {
        return Ok(());
    };
    let Ok(before) = serde_json::from_str::<Comparison>(&text) else {
        // It is written anew.
        return Ok(());
    };
    let ours = |row: &Row| {
        let mut entrants = grid.algorithms.iter();
        entrants.any(|own| [&own.name, &own.candidate_of].contains(&&row.algorithm))
    };
    let all = || before.algorithms.iter().chain(&before.candidates);
    match before.algorithms.is_empty() || all().any(ours) {
        true => Ok(()),
        false => {
            let found: Vec<&str> = before
                .algorithms
                .iter()
                .map(|row| row.algorithm.as_str())
                .collect();
            let found = found.join(", ");
            Err(CompareError::Another { dir, found }.into())
        }
    }
}

/// What an earlier call left in the folder, by cell. Its runs may have been trained for `fewer_rounds`.
fn earlier(
    catalog: &Catalog,
    out: &Path,
    cells: &[Cell],
    fewer_rounds: bool,
) -> Result<Vec<Option<Record>>, CliError> {
    if let (Some(first), Ok(entries)) = (cells.first(), fs::read_dir(out)) {
        let shared = first.config(catalog)?;
        let dirs = entries.flatten().map(|entry| entry.path());
        for dir in dirs.filter(|path| path.is_dir()) {
            record::check(&dir, &shared, Same::Comparison, fewer_rounds)?;
        }
    }
    let cells = cells.iter();
    cells
        .map(|cell| cell.earlier(catalog, out, fewer_rounds))
        .collect()
}

/// Says on stderr how many runs need not be run.
pub(super) fn say_what_is_there(records: &[Option<Record>]) {
    let (runs, there) = (records.len(), records.iter().filter(|r| ended(r)).count());
    if there > 0 {
        tell!("{there} of {runs} runs are there already");
    }
}

/// Whether a run need not be run again. One that failed would fail again.
fn ended(record: &Option<Record>) -> bool {
    matches!(record, Some(r) if r.status != Status::Interrupted)
}

/// The exit code of the runs that are now in a folder; `again` says how the user goes on after Ctrl-C.
pub(crate) fn end(
    records: &[Option<Record>],
    dir: &Path,
    again: &str,
) -> Result<ExitCode, CliError> {
    let runs = records.len();
    let with = |status| {
        let records = records.iter().flatten();
        records.filter(|record| record.status == status).count()
    };
    let (complete, failed) = (with(Status::Complete), with(Status::Failed));
    // Nothing else leaves a run unfinished.
    if let Some(signal) = signal().filter(|_| complete + failed < runs) {
        let name = signal.name();
        tell!("stopped by {name}: {complete} of {runs} runs are complete");
        tell!("help: {again} goes on");
        return Ok(signal.exit_code());
    }
    match failed {
        0 => Ok(ExitCode::SUCCESS),
        failed => Err(CompareError::Failed {
            failed,
            runs,
            dir: dir.to_owned(),
        }
        .into()),
    }
}

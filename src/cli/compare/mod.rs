//! `fedround compare`: a grid of runs, its table and its plots.

mod args;
mod error;
mod files;
mod grid;
mod plot;
mod record;
mod report;
mod statistics;
mod table;
mod train;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

pub(super) use args::CompareArgs;
pub(super) use error::CompareError;

use super::Cli;
use super::error::{CliError, INTERRUPTED};
use super::output::print;
use super::run::{Status, next_free};
use grid::{Cell, Grid};
use record::Record;
use report::Comparison;
use statistics::Row;

/// Runs the subcommand.
pub(super) fn compare(cli: &Cli, args: &CompareArgs) -> Result<ExitCode, CliError> {
    let grid = Grid::new(cli, args)?;
    let cells = grid.cells();
    let mut records = match &args.out {
        Some(out) => earlier(cli, out, &cells)?,
        None => vec![None; cells.len()],
    };
    let left = records.iter().filter(|record| !ended(record)).count();
    if left < cells.len() && !args.quiet {
        let there = cells.len() - left;
        eprintln!("{there} of {} runs are there already", cells.len());
    }
    let ready = train::prepare(cli, &grid, &cells, &records, args.quiet)?;

    // Bad input is behind us: from here on there is something to keep.
    let dir = match &args.out {
        Some(dir) => {
            fs::create_dir_all(dir).map_err(CliError::io("create the folder", dir))?;
            dir.clone()
        }
        None => next_free(&format!("compare-{}", grid.shared.data))?,
    };
    if let Some(ready) = ready {
        train::train(cli, &ready, &cells, &mut records, &dir, args.quiet)?;
    }
    let comparison = Comparison::new(&grid, &cells, &records, &dir);
    files::write(&dir, &comparison, &cells, &grid, &records)?;
    if args.json {
        print(&comparison.json()?)?;
    } else if !args.quiet {
        print(&table::text(&comparison))?;
    }
    end(&comparison, &dir)
}

/// What an earlier call left in the folder, by cell.
fn earlier(cli: &Cli, out: &Path, cells: &[Cell]) -> Result<Vec<Option<Record>>, CliError> {
    let config = |cell: &Cell| Ok::<_, CliError>(cell.settings.config(&*cell.algorithm(cli)?));
    if let (Some(first), Ok(entries)) = (cells.first(), fs::read_dir(out)) {
        let shared = config(first)?;
        let dirs = entries.flatten().map(|entry| entry.path());
        for dir in dirs.filter(|path| path.is_dir()) {
            record::check(&dir, &shared, false)?;
        }
    }
    let read = |cell: &Cell| {
        let dir = out.join(&cell.folder);
        record::check(&dir, &config(cell)?, true)?;
        Record::read(&dir)
    };
    cells.iter().map(read).collect()
}

/// Whether a run need not be run again. One that failed would fail again.
fn ended(record: &Option<Record>) -> bool {
    matches!(record, Some(r) if r.status != Status::Interrupted)
}

/// The exit code of what is now in the folder.
fn end(comparison: &Comparison, dir: &Path) -> Result<ExitCode, CliError> {
    let runs = comparison.runs.len();
    let total = |of: fn(&Row) -> usize| comparison.algorithms.iter().map(of).sum::<usize>();
    // Nothing else leaves a run unfinished.
    if total(|row| row.unfinished) > 0 {
        let (complete, dir) = (total(|row| row.complete), dir.display());
        eprintln!("stopped by Ctrl-C: {complete} of {runs} runs are complete");
        eprintln!("help: the same command with --out {dir} goes on");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    match total(|row| row.failed) {
        0 => Ok(ExitCode::SUCCESS),
        failed => Err(CompareError::Failed {
            failed,
            runs,
            dir: dir.to_owned(),
        }
        .into()),
    }
}

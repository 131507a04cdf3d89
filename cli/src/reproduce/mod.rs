//! `fedround reproduce`: tables of papers, run and printed beside the papers' numbers.

mod args;
mod claims;
mod claims_table;
mod columns;
mod curves;
mod drop_dead_hypers;
mod error;
mod few_tests;
mod layout;
mod listing;
mod measures;
mod numbers_table;
mod plan;
mod print;
mod report;
mod select;
mod tables;
#[cfg(test)]
mod tests;

use std::fs;
use std::process::ExitCode;

pub(super) use args::ReproduceArgs;
pub(super) use error::ReproduceError;

use crate::catalog::Catalog;
use crate::compare::{Datasets, Output, end, prepare, say_what_is_there, train};
use crate::error::CliError;
use crate::files::{json, write_text};
use crate::run::{lock, lock_if_there};
use crate::terminal::print as write;
use plan::Plan;
use report::Report;
use tables::Paper;

/// A table for people, in its folder.
pub(super) const TABLE: &str = "table.md";

pub(super) fn reproduce(catalog: &Catalog, args: &ReproduceArgs) -> Result<ExitCode, CliError> {
    let listed = match (&args.paper, &args.table) {
        (None, _) => papers(args.json)?,
        (Some(paper), None) => tables_of(&Paper::find(paper)?, args.json)?,
        (Some(paper), Some(table)) => {
            let plan = Plan::new(catalog, Paper::find(paper)?, table, args)?;
            if !args.dry_run {
                return run(catalog, plan, args);
            }
            commands(catalog, plan, args)?
        }
    };
    write(&listed)?;
    Ok(ExitCode::SUCCESS)
}

/// All papers with their tables.
fn papers(as_json: bool) -> Result<String, CliError> {
    let papers = tables::papers()?;
    match as_json {
        true => json(&papers.iter().map(listing::of).collect::<Vec<_>>()),
        false => Ok(listing::papers(&papers)),
    }
}

/// The tables of a paper.
fn tables_of(paper: &Paper, as_json: bool) -> Result<String, CliError> {
    match as_json {
        true => json(&listing::of(paper)),
        false => Ok(listing::whole(paper)),
    }
}

/// The runs of a table as commands.
fn commands(catalog: &Catalog, mut plan: Plan, args: &ReproduceArgs) -> Result<String, CliError> {
    let dir = args.out.clone().unwrap_or_else(|| plan.folder());
    // The data says how many domains there are; commands are printed without it too.
    if plan.paper.one_party_a_domain {
        plan.load_if_there(&mut Datasets::new(true));
    }
    let cells = drop_dead_hypers::without_dead(catalog, plan.cells())?;
    let commands = listing::commands(&cells, &dir);
    match args.json {
        true => json(&commands),
        false => Ok(commands.iter().map(|line| format!("{line}\n")).collect()),
    }
}

/// Runs a table, and prints it beside the paper's numbers.
fn run(catalog: &Catalog, mut plan: Plan, args: &ReproduceArgs) -> Result<ExitCode, CliError> {
    let mut datasets = Datasets::new(args.quiet);
    let dir = args.out.clone().unwrap_or_else(|| plan.folder());
    plan.load(&mut datasets, args.skip_missing)?;
    let mut cells = drop_dead_hypers::without_dead(catalog, plan.cells())?;
    let held = lock_if_there(&dir)?;
    let earlier = cells.iter().map(|cell| cell.earlier(catalog, &dir, false));
    let mut records = earlier.collect::<Result<Vec<_>, _>>()?;
    if !args.quiet {
        say_what_is_there(&records);
    }
    let data = prepare(catalog, &cells, &records, &mut datasets, Some(&dir))?;

    // Bad input is behind us: from here on there is something to keep.
    fs::create_dir_all(&dir).map_err(CliError::io("create the folder", &dir))?;
    let _lock = held.map_or_else(|| lock(&dir), Ok)?;
    let output = Output {
        dir: &dir,
        quiet: args.quiet,
        keep_states: false,
    };
    train(catalog, &data, &cells, &mut records, output)?;
    let every = records.clone();
    plan.choose(&mut cells, &mut records);
    curves::write(&plan, &cells, &records, &dir)?;
    let report = Report::new(catalog, &plan, &cells, &records, &dir)?;
    write_text(&dir.join(TABLE), &print::markdown(&report))?;
    write_text(&dir.join("table.json"), &json(&report)?)?;
    if args.json {
        write(&json(&report)?)?;
    } else if !args.quiet {
        write(&print::text(&report))?;
    }
    end(&every, &dir, "the same command")
}

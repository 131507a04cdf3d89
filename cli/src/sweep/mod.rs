//! `fedround sweep`: one algorithm with many values of its hyper-parameters.

mod args;

use std::process::ExitCode;

pub(super) use args::SweepArgs;

use crate::catalog::Catalog;
use crate::compare::{CompareArgs, run_all};
use crate::error::CliError;
use crate::report;
use crate::run::slug;
use crate::terminal::tell;

/// The share of training examples on which the best values are chosen.
const VALIDATION: f64 = 0.1;

/// Runs the subcommand: a comparison of one algorithm with itself, and its page.
pub(super) fn sweep(catalog: &Catalog, args: SweepArgs) -> Result<ExitCode, CliError> {
    let name = format!("sweep-{}", slug(&args.spec));
    let quiet = args.quiet || args.json;
    let comparison: CompareArgs = args.into();
    let (dir, ended) = run_all(catalog, &comparison, &name)?;
    let page = report::write(catalog, &dir)?;
    if !quiet {
        tell!("{} shows it", page.display());
    }
    Ok(ended)
}

impl From<SweepArgs> for CompareArgs {
    fn from(args: SweepArgs) -> Self {
        let mut tests = args.tests;
        tests.validation = tests.validation.or(Some(VALIDATION));
        Self {
            specs: vec![args.spec],
            settings: args.settings,
            tests,
            select: args.grid,
            select_flag: "--grid",
            random: args.random,
            halving: args.halving,
            seeds: args.seeds,
            seed: args.seed,
            out: args.out,
            json: args.json,
            quiet: args.quiet,
        }
    }
}

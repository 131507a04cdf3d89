//! The arguments of `fedround compare`.

use std::path::PathBuf;

use clap::Args;

use crate::run::{SettingArgs, TestArgs};

const EXAMPLES: &str = "\
Examples:
  fedround compare fedavg fedprox scaffold
  fedround compare fedavg fednova --data mnist --data-dir data --partition dirichlet:0.1 \\
      --seeds 5 --rounds 100 --target 0.9 --set lr=0.05 --out runs/skew
  fedround compare fedavg fedprox --set lr=0.05 --set fedprox.mu=0.1
  fedround compare fedavg weak=fedprox strong=fedprox --set weak.mu=0.01 --set strong.mu=1
  fedround compare fedavg fedprox --select lr=0.01,0.1 --select fedprox.mu=0.01,1 --validation 0.1

A hyper-parameter belongs to every algorithm that has it, or, after an algorithm's name and a dot,
to that one. A file of --config is read without its spec and seed. Without --target, the target is
the mean final accuracy of the first algorithm.

The folder holds a run folder for each algorithm and seed, comparison.csv, comparison.md,
comparison.json, curves.csv and accuracy.svg. The same command goes on where it was stopped. With
the same --out it may have more algorithms and seeds.";

/// Runs several algorithms with several seeds, and compares them.
///
/// Settings are those of `fedround run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// Algorithms as for `fedround run`; NAME=SPEC gives one a name
    #[arg(required = true, value_name = "SPEC")]
    pub specs: Vec<String>,
    #[command(flatten)]
    pub settings: SettingArgs,
    #[command(flatten)]
    pub tests: TestArgs,
    /// Try each value, and each combination if given several times; of each algorithm, compare the one
    /// that is best on validation examples (--validation)
    #[arg(long, value_name = "NAME=VALUE,VALUE..")]
    pub select: Vec<String>,
    /// The flag that these values came from: `--select`, or `--grid` of `fedround sweep`.
    #[arg(skip = "--select")]
    pub select_flag: &'static str,
    /// Try N random combinations of --select, drawn from --seed. A range NAME=LOW..HIGH is drawn on a log
    /// scale
    #[arg(long, value_name = "N", requires = "select")]
    pub random: Option<usize>,
    /// The K of `fedround sweep --halving`: one candidate in K continues.
    #[arg(skip)]
    pub halving: Option<usize>,
    /// Number of seeds
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub seeds: u64,
    /// The first seed; the others follow it
    #[arg(long, value_name = "SEED", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: u64,
    /// Folder [default: runs/compare-DATA, or the next free name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print comparison.json, and nothing else, on stdout
    #[arg(long)]
    pub json: bool,
    /// No progress and no table
    #[arg(long, short)]
    pub quiet: bool,
}

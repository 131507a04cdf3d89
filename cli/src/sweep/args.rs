//! The arguments of `fedround sweep`.

use std::path::PathBuf;

use clap::Args;

use crate::run::{SettingArgs, TestArgs};

const EXAMPLES: &str = "\
Examples:
  fedround sweep fedprox --grid mu=0.001,0.01,0.1,1 --grid lr=0.01,0.1 --seeds 5
  fedround sweep fedprox --grid mu=1e-4..1 --grid lr=0.001..1 --random 20 --out runs/mu
  fedround sweep fedprox --grid mu=1e-4..1 --random 27 --halving 3 --rounds 270
  fedround report runs/mu --open

Every combination is run with every seed, and the one with the best mean accuracy on validation
examples is chosen: examples that clients hold back from training. Test examples have no part in
it. The folder is that of `fedround compare`, with report.html. The same command with the same
--out goes on where the last one stopped, and may have more values, more seeds or a larger
--random.

With --halving 3, 27 combinations are trained for 10 rounds, the best 9 of them to 30, the best 3
to 90 and the best one to 270. Those that go on continue from their checkpoints, so that no round
is trained twice.";

/// Tries values of hyper-parameters, and chooses the best on validation examples.
///
/// Settings are those of `fedround run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SweepArgs {
    /// Algorithm, as for `fedround run`
    pub spec: String,
    /// Values of a hyper-parameter, or with --random a range NAME=LOW..HIGH; each combination is tried
    /// if given several times
    #[arg(long, value_name = "NAME=VALUE,VALUE..", required = true)]
    pub grid: Vec<String>,
    /// Try so many combinations, drawn from --seed, instead of all
    #[arg(long, value_name = "N")]
    pub random: Option<usize>,
    /// Successive halving: train all combinations for a few rounds, and let the best 1/K of them go on
    /// to K times as many, until one reaches --rounds
    #[arg(long, value_name = "K")]
    pub halving: Option<usize>,
    #[command(flatten)]
    pub settings: SettingArgs,
    #[command(flatten)]
    pub tests: TestArgs,
    /// Number of seeds
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub seeds: u64,
    /// The first seed; the others follow it
    #[arg(long, value_name = "SEED", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: u64,
    /// Folder [default: runs/sweep-SPEC-DATA, or the next free name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print comparison.json, and nothing else, on stdout
    #[arg(long)]
    pub json: bool,
    /// No progress and no table
    #[arg(long, short)]
    pub quiet: bool,
}

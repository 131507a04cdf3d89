//! The arguments of `fedround reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::run::{EngineArgs, SettingArgs, TestArgs};

const EXAMPLES: &str = "\
Examples:
  fedround reproduce                                 the papers and their tables
  fedround reproduce adfl                            the tables of one
  fedround reproduce adfl mnist --data-dir data      runs one, cut down to minutes
  fedround reproduce fedaa islands --only FedAvg --only FedAA --only 'C = 0.5'
  fedround reproduce lg-fedavg mnist --scale full --device cuda
  fedround reproduce fedfed cifar-10 --dry-run       its runs as commands

The folder holds a run folder for each run, table.md and table.json. The same command goes on
where the last one stopped, and may have more seeds and less --only.";

/// Runs a table of a paper, and prints the paper's numbers beside ours.
///
/// Without PAPER or TABLE it lists what there is.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReproduceArgs {
    /// Paper, such as fedaa
    pub paper: Option<String>,
    /// Table, such as islands
    pub table: Option<String>,
    /// The paper's protocol, or one cut down to minutes on a small machine
    #[arg(long, value_enum, default_value_t = Scale::Small)]
    pub scale: Scale,
    /// Number of seeds [default: the table's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub seeds: Option<u64>,
    /// The first seed; the others follow it. Confirm a result with seeds that had no part in finding it
    #[arg(long, value_name = "SEED", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64 - 1_000_000))]
    pub first_seed: u64,
    /// Deal the examples with this seed in all runs, so that they differ in nothing but training
    /// [default: each run deals with its own]
    #[arg(long, value_name = "SEED", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub partition_seed: Option<u64>,
    /// Folder that holds the datasets' folders
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data_dir: PathBuf,
    /// Folder [default: runs/PAPER-TABLE-SCALE]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Rounds of every run, for a first look
    #[arg(long, value_name = "R")]
    pub rounds: Option<usize>,
    /// Run only this method, or this setting; may be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Try each value, and each combination if given several times; of each method, the table has the one
    /// that is best on validation examples (--validation)
    #[arg(long, value_name = "NAME=VALUE,VALUE..", requires = "validation")]
    pub select: Vec<String>,
    /// Fraction of each client's training examples that is held back, for --select
    #[arg(long, value_name = "FRACTION")]
    pub validation: Option<f64>,
    /// Leave out what needs a dataset that is not there
    #[arg(long)]
    pub skip_missing: bool,
    /// Print the runs as commands, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Print table.json, or the list, and nothing else, on stdout
    #[arg(long)]
    pub json: bool,
    /// No progress and no table
    #[arg(long, short)]
    pub quiet: bool,
}

/// How much of a paper's protocol is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scale {
    Small,
    Full,
}

impl Scale {
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Full => "full",
        }
    }
}

impl ReproduceArgs {
    /// When and how models are tested, over the table's own settings.
    pub fn tests(&self) -> TestArgs {
        TestArgs {
            validation: self.validation,
            ..TestArgs::default()
        }
    }

    /// What is laid over the table's own settings.
    pub fn flags(&self) -> SettingArgs {
        SettingArgs {
            data_dir: Some(self.data_dir.clone()),
            rounds: self.rounds,
            partition_seed: self.partition_seed,
            // A table's numbers are to repeat.
            reproducible_noise: true,
            engine: self.engine.clone(),
            ..SettingArgs::default()
        }
    }
}

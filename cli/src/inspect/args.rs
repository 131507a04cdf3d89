//! The arguments of `fedround inspect`.

use std::path::PathBuf;

use clap::Args;

use crate::run::SettingArgs;

const EXAMPLES: &str = "\
Examples:
  fedround inspect fedavg --set fraction=1 --rounds 20      how far local models are apart
  fedround inspect fedfed --set distill=5 --rounds 8 --attack
  fedround inspect --config runs/mu01/config.toml           the same run again, looked at

A run is a function of its settings, so that this one is the one that `fedround run
--reproducible-noise` would make; --system-noise draws other noise each time.
The folder holds report.json; rounds.csv with the traffic; variance.csv and variance.svg, how far
the parameters that clients send are apart; a contact sheet (PNG) of images that clients share or
that the server makes of their models; the first two principal components (SVG) of representations
that they share. Ctrl-C finishes the current round and writes what there is.";

/// Trains, and shows what the server sees of single clients: how far their models are apart, the
/// features that they share, images that the server makes, and how much crosses in which phase.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InspectArgs {
    /// Algorithm, such as `fedfed` or `fedaa(fedavg)`; see `fedround list`
    pub spec: Option<String>,
    #[command(flatten)]
    pub settings: SettingArgs,
    /// Seed of the partition, sampling, batch order and initial parameters [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Folder [default: runs/inspect-SPEC-DATA-seedSEED, or the next free name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Attack what clients share of their images: rebuild the images, and find out which examples
    /// were trained on
    #[arg(long)]
    pub attack: bool,
    /// Print report.json, and nothing else, on stdout
    #[arg(long)]
    pub json: bool,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
}

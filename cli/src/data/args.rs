//! The arguments of `fedround data`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  fedround data list
  fedround data fetch mnist                          into data/mnist
  fedround data info adult --data-dir data
  fedround data preview cifar-10 --out sheet.png
  fedround data partition mnist --partition dirichlet:0.1 --clients 20 --out who.svg";

/// Lists datasets, gets their files, and shows what is in them and who gets what.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    pub command: DataCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// List the datasets, and whether their files are there
    List(Folder),
    /// Read a dataset and print what it holds: counts, shapes, classes, files and their checksums
    Info(Named),
    /// Download the files of a dataset, check and unpack them; goes on where it was stopped
    Fetch(FetchArgs),
    /// Draw images of each class on a sheet
    Preview(PreviewArgs),
    /// Deal a dataset to clients, and print and draw who gets what
    Partition(PartitionArgs),
}

#[derive(Debug, Args)]
pub(crate) struct Folder {
    /// Folder that holds the datasets' folders, such as DIR/mnist
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data_dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Dataset; see `fedround data list`
    pub name: String,
    #[command(flatten)]
    pub folder: Folder,
}

#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    #[command(flatten)]
    pub dataset: Named,
    /// Get the files from this address instead of their publisher's; their names stay
    #[arg(long, value_name = "URL")]
    pub mirror: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PreviewArgs {
    #[command(flatten)]
    pub dataset: Named,
    /// Images of each class
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub columns: usize,
    /// PNG file
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PartitionArgs {
    #[command(flatten)]
    pub dataset: Named,
    /// Who gets which examples; see `fedround list partitioners`
    #[arg(long, value_name = "P")]
    pub partition: String,
    /// Number of clients
    #[arg(long, value_name = "N", default_value_t = crate::settings::CLIENTS)]
    pub clients: usize,
    /// Seed of the partition
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Draw clients against classes in this SVG file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

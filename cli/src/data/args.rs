//! The arguments of `fedround data`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::drawing::contact_sheet::sheet_path;
use crate::drawing::drawing_path;
use crate::settings::read_args::ReadArgs;

const EXAMPLES: &str = "\
Examples:
  fedround data list
  fedround data fetch mnist                          into data/mnist
  fedround data info adult --data-dir data
  fedround data preview cifar-10 --out sheet.png
  fedround data partition mnist --partition dirichlet:0.1 --clients 20 --out who.svg
  fedround data info images:photos                   a folder for each class
  fedround data info csv:people.csv --target-column income";

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
    List(ListArgs),
    /// Read a dataset and print what it holds: counts, shapes, classes, files and their checksums
    Info(InfoArgs),
    /// Download the files of a dataset, check and unpack them; goes on where it was stopped
    Fetch(FetchArgs),
    /// Draw images of each class on a sheet, or print the first examples of each class
    Preview(PreviewArgs),
    /// Deal a dataset to clients, and print and draw who gets what
    Partition(PartitionArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub folder: Folder,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Folder {
    /// Folder that holds the folders of datasets, such as DIR/mnist
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data_dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Dataset by name (see `fedround data list`), or images:DIR, csv:FILE, parquet:FILE, npy:X,Y,
    /// npz:FILE or leaf:DIR
    #[arg(value_name = "DATA")]
    pub name: String,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub reading: ReadArgs,
}

const INFO_EXAMPLES: &str = "\
Examples:
  fedround data info mnist
  fedround data info images:photos                   a folder for each class
  fedround data info csv:people.csv --target-column income --client-column town --missing fill";

#[derive(Debug, Args)]
#[command(after_help = INFO_EXAMPLES)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub dataset: Named,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    /// Dataset; see `fedround data list`
    pub name: String,
    #[command(flatten)]
    pub folder: Folder,
    /// Get the files from this address instead of their publisher's; their names stay
    #[arg(long, value_name = "URL")]
    pub mirror: Option<String>,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

const PREVIEW_EXAMPLES: &str = "\
Examples:
  fedround data preview mnist --out digits.png       ten images of each class
  fedround data preview images:photos --columns 5 --out sheet.png
  fedround data preview adult                        the first rows of each class";

#[derive(Debug, Args)]
#[command(after_help = PREVIEW_EXAMPLES)]
pub(crate) struct PreviewArgs {
    #[command(flatten)]
    pub dataset: Named,
    /// Examples of each class
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub columns: usize,
    /// PNG file of images; examples that are no images are printed
    #[arg(long, value_name = "FILE", value_parser = sheet_path)]
    pub out: Option<PathBuf>,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

const PARTITION_EXAMPLES: &str = "\
Examples:
  fedround data partition mnist --partition dirichlet:0.1 --clients 20 --out who.svg
  fedround data partition images:photos --partition natural    folders of clients above the classes";

#[derive(Debug, Args)]
#[command(after_help = PARTITION_EXAMPLES)]
pub(crate) struct PartitionArgs {
    #[command(flatten)]
    pub dataset: Named,
    /// Who gets which examples; see `fedround list partitioners`
    #[arg(long, value_name = "P")]
    pub partition: String,
    /// Number of clients [default: 100; with --partition natural, all that the data names]
    #[arg(long, value_name = "N")]
    pub clients: Option<usize>,
    /// Seed of the partition
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Draw clients against classes in this file: .svg, or .png or .pdf in a build with --features raster
    #[arg(long, value_name = "FILE", value_parser = drawing_path)]
    pub out: Option<PathBuf>,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

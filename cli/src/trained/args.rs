//! The arguments of `fedround eval`, `predict` and `export`, which use finished runs.

use std::path::PathBuf;

use clap::Args;

use super::export_format::ExportFormat;
use crate::settings::read_args::ReadArgs;

const EVAL_EXAMPLES: &str = "\
Examples:
  fedround eval runs/first
  fedround eval runs/personal --client all          each client's own model on its own examples
  fedround eval runs/personal --client 3 --json
  fedround eval runs/mnist --data synth-digits";

/// Evaluates a run's models: the server's on the test set, and the clients' own ones, where they have
/// some, each on its client's own test examples.
#[derive(Debug, Args)]
#[command(after_help = EVAL_EXAMPLES)]
pub(crate) struct EvalArgs {
    /// Run folder
    pub run: PathBuf,
    /// Only the model of this client, by its number from 0, or of `all` clients
    #[arg(long, value_name = "all|N", value_parser = Clients::parse)]
    pub client: Option<Clients>,
    /// The test set of other data of the same shape and classes, such as synth-digits or images:DIR, or
    /// all of it if it has no test part and there is no --test-share; clients are tested on all of it
    #[arg(long, value_name = "DATA")]
    pub data: Option<String>,
    /// Folder that holds the folders of datasets [default: as in the run, or data]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadArgs,
    /// Examples that are computed together
    #[arg(long, value_name = "N", default_value_t = 250)]
    pub batch: usize,
    /// Beam width of models that describe images: sentences that are kept at each word [default: as in the run]
    #[arg(long, value_name = "N")]
    pub beam: Option<usize>,
    /// Print numbers as JSON
    #[arg(long)]
    pub json: bool,
}

/// Which clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clients {
    All,
    One(usize),
}

impl Clients {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            text => match text.parse() {
                Ok(client) => Ok(Self::One(client)),
                Err(_) => Err("expected `all` or the number of a client".to_owned()),
            },
        }
    }
}

const PREDICT_EXAMPLES: &str = "\
Examples:
  fedround predict runs/mnist three.png five.png
  fedround predict runs/personal --client 3 images.csv
  fedround predict runs/people rows.csv | jq '.[].class'
  fedround predict runs/arrays new.npy

A CSV file has no header, and in each row the numbers of one example, channel after channel. For
images they are bytes, 0 to 255. If the run was on a table (csv:FILE), the CSV file has the header
and the columns of that table without the target. An array (np.save) has examples of the shape and
the kind of those in training.

A file that cannot be read is an error, after the classes of all others.";

/// Prints the classes of files as JSON, with the probabilities of all classes.
#[derive(Debug, Args)]
#[command(after_help = PREDICT_EXAMPLES)]
pub(crate) struct PredictArgs {
    /// Run folder
    pub run: PathBuf,
    /// Images (PNG or JPEG), which are scaled to the size of the data's, arrays of NumPy (*.npy), or CSV
    /// files of rows
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// By the own model of this client, by its number from 0 [default: the server's model]
    #[arg(long, value_name = "N")]
    pub client: Option<usize>,
    /// Folder that holds the folders of datasets [default: as in the run, or data]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Print JSON, which it does without this flag, too
    #[arg(long)]
    #[allow(dead_code, reason = "predictions are always JSON")]
    pub json: bool,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  fedround export runs/first --to model.pt          torch.load(..., weights_only=True)
  fedround export runs/first --to model.safetensors
  fedround export runs/personal --client 3 --to client3.pt

docs/weights.md shows the PyTorch model that loads it.";

/// Writes a run's model with PyTorch's names and layouts.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// Run folder
    pub run: PathBuf,
    /// File to write; it must not exist
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Kind of file [default: by its name, which ends in .pt or .pth, or in .safetensors]
    #[arg(long, value_enum)]
    pub format: Option<ExportFormat>,
    /// This client's own model, by its number from 0 [default: the server's model]
    #[arg(long, value_name = "N")]
    pub client: Option<usize>,
    /// Only this part of the model, such as features, or an auxiliary network; may be repeated
    /// [default: the model without auxiliary networks]
    #[arg(long, value_name = "PART")]
    pub part: Vec<String>,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

//! The arguments of the commands that show what an algorithm is compiled to: `graph`, `opt` and `explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fedround_exec::{Device, Target};
use fedround_models::Train;
use fedround_passes::{PassManager, timing_table};

use crate::drawing::Picture;
use crate::error::CliError;
use crate::settings::read_args::ReadArgs;
use crate::terminal::tell;

/// What to compile.
#[derive(Debug, Args)]
pub(crate) struct Subject {
    /// Algorithm, such as `fedprox` or `fedprox(fedavg)`
    pub spec: String,
    /// Model; see `fedround list models`
    #[arg(long, default_value = crate::settings::MODEL)]
    pub model: String,
    /// Which part of the model trains: all, or lora:RANK[:ALPHA], low-rank adapters
    #[arg(long, value_name = "PART", default_value_t = Train::All)]
    pub train: Train,
    /// Variant of an auxiliary network, as in discriminator=linear; may be repeated
    #[arg(long, value_name = "NAME=VARIANT")]
    pub aux: Vec<String>,
    /// Dataset, for the shape of its examples and its classes. Files of bundled datasets are not read,
    /// those of your own data are, such as images:DIR
    #[arg(long, value_name = "DATA", default_value = crate::settings::DATA)]
    pub data: String,
    #[command(flatten)]
    pub reading: ReadArgs,
    /// Number of clients
    #[arg(long, value_name = "N", default_value_t = crate::settings::CLIENTS)]
    pub clients: usize,
    /// Hyper-parameter, as in mu=0.1, or fedavg.lr=0.1 to name its layer, otherwise the outermost that has
    /// it; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}

const STAGES: &str = "\
Stages:
  fed      the algorithm as it was written: hooks, calls and regions
  linked   one round, with all hooks linked and simplified
  parties  what runs at the parties of a federation, and what they send and keep
  tensor   each compute region as a graph of tensor ops, with gradient and update
  plan     the same with memory slots, as the executor runs it
  fused    the kernels that fusion on a GPU makes of it

Examples:
  fedround graph fedprox --at linked
  fedround graph fedavg --format svg > fedavg.svg          two lanes, for a paper
  fedround graph fedavg --format pdf > fedavg.pdf          the same (needs --features raster)
  fedround graph fedavg --at tensor --format dot | dot -Tpdf > step.pdf
  fedround graph fedavg --at tensor --costs
  fedround graph fedprox --at plan --model cnn --set batch=20
  fedround graph fedfed --phase 1 --at tensor --format svg > distill.svg
  fedround graph fedavg --at fused --device wgpu
  fedround graph fedavg --diff fuse                         what a pass changes
  fedround graph fedprox --at linked --exact > fedprox.txt  to be read by `fedround opt`

FEDROUND_IR=before|after|PASS prints programs to stderr around every pass, or around one.";

/// Prints what an algorithm is compiled to.
#[derive(Debug, Args)]
#[command(after_help = STAGES)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub subject: Subject,
    /// Stage of the compilation: fed, linked, parties, tensor, plan or fused, as described below
    #[arg(long, value_enum, value_name = "STAGE", hide_possible_values = true, default_value_t = Stage::Linked)]
    pub at: Stage,
    /// Number of the phase, of an algorithm with several, as in `--phase 1` [default: all in text, and in svg,
    /// png and pdf of fed and linked; otherwise the last one]
    #[arg(long, value_name = "N", conflicts_with_all = ["pass", "diff"])]
    pub phase: Option<usize>,
    /// Device to compile for: cpu, wgpu[:N], cuda[:N] or auto
    #[arg(long, value_name = "D", default_value = "cpu")]
    pub device: String,
    /// Float type of the operands of matrix products and convolutions: f32, bf16 or f16
    #[arg(long, value_name = "T", default_value = "f32")]
    pub precision: String,
    /// Format: text, dot (for Graphviz), svg (a drawing), json, or in a build with --features raster png
    /// and pdf
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true, default_value_t = Format::Text)]
    pub format: Format,
    /// Print the FLOPs, the bytes moved and the bytes alive of each tensor op instead
    #[arg(long, conflicts_with = "format")]
    pub costs: bool,
    /// Print the program right after this pass changed it; `fedround opt --list` names them
    #[arg(long, value_name = "PASS", conflicts_with_all = ["format", "costs"])]
    pub pass: Option<String>,
    /// Print what this pass changes
    #[arg(long, value_name = "PASS", conflicts_with_all = ["pass", "format", "costs"])]
    pub diff: Option<String>,
    /// Print every literal and the values of hyper-parameters, so that `fedround opt` can read the text
    #[arg(long, conflicts_with_all = ["format", "costs"])]
    pub exact: bool,
    /// Report the time of each pass on stderr
    #[arg(long)]
    pub timings: bool,
    /// Print JSON, as --format json; with --costs, that of the tensor graphs, which has the costs
    #[arg(long, conflicts_with_all = ["format", "pass", "diff", "exact"])]
    pub json: bool,
}

impl GraphArgs {
    /// How the graph is written, before a drawing is converted.
    pub fn format(&self) -> Format {
        match (self.json, self.format) {
            (true, _) => Format::Json,
            (false, Format::Png | Format::Pdf) => Format::Svg,
            (false, format) => format,
        }
    }

    /// What the drawing is converted to.
    pub fn picture(&self) -> Option<Picture> {
        match self.format {
            Format::Png => Some(Picture::Png),
            Format::Pdf => Some(Picture::Pdf),
            _ => None,
        }
    }

    /// What the subject is compiled for.
    pub fn target(&self) -> Result<Target, CliError> {
        let device = Device::choose(&self.device)?;
        Ok(device.with_precision(self.precision.parse()?))
    }

    /// Writes the times of a compilation to stderr, if they are wanted.
    pub fn report_timings(&self, manager: &PassManager) {
        if self.timings {
            tell!("{}", timing_table(&manager.timings()).trim_end());
        }
    }
}

const OPT_EXAMPLES: &str = "\
Examples:
  fedround graph fedprox --at fed --exact | fedround opt - --passes link-hooks,canonicalize
  fedround opt step.txt --passes fold,cse,dce,batch-clients=8,fuse
  fedround opt step.txt                             check it and print it as it is
  fedround opt --list                               the passes of each dialect";

/// Reads a program's text, of the fed or the tensor dialect, runs passes in the given order and
/// prints the result. The program is checked when it is read and after every pass.
#[derive(Debug, Args)]
#[command(after_help = OPT_EXAMPLES)]
pub(crate) struct OptArgs {
    /// File, or - for stdin
    #[arg(required_unless_present = "list")]
    pub file: Option<PathBuf>,
    /// Passes in the order in which they run, with commas between them; none by default
    #[arg(
        long,
        value_name = "PASS,…",
        default_value = "",
        hide_default_value = true
    )]
    pub passes: String,
    /// List the passes
    #[arg(long)]
    pub list: bool,
    /// Print the list as JSON, as docs/json.md describes it
    #[arg(long, requires = "list")]
    pub json: bool,
    /// Report the time of each pass on stderr
    #[arg(long)]
    pub timings: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The dialect's text form
    Text,
    /// For Graphviz
    Dot,
    /// A drawing, for papers
    Svg,
    /// The drawing in pixels; needs a build with --features raster
    Png,
    /// The drawing as a page; needs a build with --features raster
    Pdf,
    /// For other programs
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    Fed,
    Linked,
    Parties,
    Tensor,
    Plan,
    Fused,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  fedround explain fedprox
  fedround explain 'fedprox(scaffold)' --model cnn --data mnist     the bytes of another model
  fedround explain fedavg --data images:photos --model lenet5       of your own data
  fedround explain adaptive-clip --clients 1000 --examples 60       the ε of a federation";

/// Prints the algorithm as a paper would, derived from the compiled graph. Then it prints the wire
/// table: the values that are sent between server and clients, their direction, origin and bytes.
/// Last come FLOPs, bytes moved and peak memory of the server and of a client, counted from the
/// graphs.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub subject: Subject,
    /// Examples of a client, for the FLOPs of a round and the ε of training with noise
    #[arg(long, value_name = "N", default_value_t = 600)]
    pub examples: u64,
    /// δ of the (ε, δ) of noise of differential privacy
    #[arg(long, value_name = "X", default_value_t = fedround::privacy::DELTA)]
    pub delta: f64,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

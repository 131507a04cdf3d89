//! The command line: the subcommands of `fedround` and the flags that several of them share.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use fedround_exec::{Device, Target};
use fedround_models::Train;
use fedround_passes::{PassManager, timing_table};

use crate::bench::BenchArgs;
use crate::compare::CompareArgs;
use crate::data::DataArgs;
use crate::doctor::DoctorArgs;
use crate::drawing::Picture;
use crate::error::CliError;
#[cfg(feature = "flower")]
use crate::federation::{CoordinatorArgs, FederationArgs, PartyArgs};
use crate::inspect::InspectArgs;
use crate::model_args::{EvalArgs, ExportArgs, PredictArgs};
use crate::new::NewArgs;
use crate::read_args::ReadArgs;
use crate::report::ReportArgs;
use crate::reproduce::ReproduceArgs;
use crate::run::{ResumeArgs, RunArgs, SettingArgs, TestArgs};
use crate::sweep::SweepArgs;
use crate::terminal::tell;

const EXAMPLES: &str = "\
Examples:
  fedround run fedprox                              train on non-IID digits, no download needed
  fedround run 'fedprox(fedavg)' --set mu=0.1       compose algorithms, set hyper-parameters
  fedround resume runs/DIR                          go on with a run that was stopped
  fedround compare fedavg scaffold --seeds 3        a table with means over seeds, and plots
  fedround sweep fedprox --grid mu=0.01,0.1         values of hyper-parameters
  fedround report runs/DIR --open                   a page with curves, tables and drawings
  fedround reproduce adfl mnist                     a paper's table beside ours
  fedround inspect fedfed --data mnist              what the server sees of clients
  fedround new my-algorithm                         a crate with an algorithm of your own
  fedround list                                     what there is to choose from
  fedround explain fedprox                          the algorithm box and what crosses the wire
  fedround graph fedprox --at tensor                what it is compiled to

Errors go to stderr. Exit codes: 0 done, 1 bad input or a failed run, 2 wrong usage,
128 + N stopped by signal N, as 130 by Ctrl-C (everything up to the last complete round is kept).";

/// A compiled framework for federated learning.
///
/// Algorithms are short specs in Rust; the command compiles one for a model and trains it over
/// simulated clients.
#[derive(Debug, Parser)]
#[command(name = "fedround", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train an algorithm over simulated clients
    Run(RunArgs),
    /// Go on with a run that was stopped, or train a finished one for more rounds
    Resume(ResumeArgs),
    /// Evaluate the models of a finished run, without training
    Eval(EvalArgs),
    /// Print the classes of images or rows of numbers, by the model of a finished run
    Predict(PredictArgs),
    /// Write the model of a finished run as a file that PyTorch loads
    Export(ExportArgs),
    /// Coordinate a federation between machines, over Flower's SuperLink
    #[cfg(feature = "flower")]
    Coordinator(CoordinatorArgs),
    /// Take part in a federation: train the clients that are on this machine
    #[cfg(feature = "flower")]
    Party(PartyArgs),
    /// Show the parties and runs of a SuperLink
    #[cfg(feature = "flower")]
    Federation(FederationArgs),
    /// Run several algorithms with several seeds, and compare them in a table and in plots
    Compare(CompareArgs),
    /// Try values of hyper-parameters, and choose the best on validation examples
    Sweep(SweepArgs),
    /// Train, and show what the server learns about single clients
    Inspect(InspectArgs),
    /// Write a page about a run or a comparison, in one file that can be sent
    Report(ReportArgs),
    /// Run a table of a paper, and print the paper's numbers beside ours
    Reproduce(ReproduceArgs),
    /// Make a crate with an algorithm of your own
    New(NewArgs),
    /// List algorithms, models, datasets and partitioners
    List(ListArgs),
    /// Print the settings that a run would have, as a configuration file
    Config(ConfigArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Write manual pages
    Man(ManArgs),
    /// List, fetch, check, draw and deal datasets
    Data(DataArgs),
    /// Print what an algorithm is compiled to, at one of six stages
    Graph(GraphArgs),
    /// Run passes on a program's text
    Opt(OptArgs),
    /// Print an algorithm as a paper would, with what is sent and what a round costs
    Explain(ExplainArgs),
    /// Measure the speed of an algorithm on a benchmark task, and compare it with other frameworks
    Bench(BenchArgs),
    /// List the devices that can be used, and why the others cannot
    Doctor(DoctorArgs),
}

/// Lists what the command knows, with papers and hyper-parameters.
#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    /// Only one kind of these (specs, models, auxiliaries, datasets or partitioners), or an algorithm in full
    #[arg(value_name = "KIND|SPEC")]
    pub what: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Prints the completions of a shell, for a file that it reads.
#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// Shell
    pub shell: clap_complete::Shell,
}

/// Writes manual pages, fedround.1 and one for each subcommand.
#[derive(Debug, ClapArgs)]
pub(crate) struct ManArgs {
    /// Folder, such as ~/.local/share/man/man1
    pub dir: PathBuf,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

/// Prints what a run would run with: defaults, under the files of --config, under the flags.
#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigArgs {
    /// Algorithm
    pub spec: Option<String>,
    #[command(flatten)]
    pub settings: SettingArgs,
    #[command(flatten)]
    pub tests: TestArgs,
    /// Seed [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    Specs,
    Models,
    Auxiliaries,
    Datasets,
    Partitioners,
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
  fedround graph fedavg --at fused --device wgpu
  fedround graph fedavg --diff fuse                         what a pass changes
  fedround graph fedprox --at linked --exact > fedprox.txt  to be read by `fedround opt`

FEDROUND_IR=before|after|PASS prints programs to stderr around every pass, or around one.";

/// Prints what an algorithm is compiled to.
#[derive(Debug, ClapArgs)]
#[command(after_help = STAGES)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub subject: Subject,
    /// Stage
    #[arg(long, value_enum, default_value_t = Stage::Linked)]
    pub at: Stage,
    /// Device to compile for: cpu, wgpu[:N], cuda[:N] or auto
    #[arg(long, default_value = "cpu")]
    pub device: String,
    /// Float type of products' operands: f32, bf16 or f16
    #[arg(long, default_value = "f32")]
    pub precision: String,
    /// Format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Print FLOPs, bytes moved and bytes alive of each tensor op instead
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
#[derive(Debug, ClapArgs)]
#[command(after_help = OPT_EXAMPLES)]
pub(crate) struct OptArgs {
    /// File, or - for stdin
    #[arg(required_unless_present = "list")]
    pub file: Option<PathBuf>,
    /// Passes, with commas between them
    #[arg(long, value_name = "PASS,…", default_value = "")]
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

/// Prints the algorithm as a paper would, derived from the compiled graph. Then it prints the wire
/// table: the values that are sent between server and clients, their direction, origin and bytes.
/// Last come FLOPs, bytes moved and peak memory of the server and of a client, counted from the
/// graphs.
#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub subject: Subject,
    /// Examples of a client, for the FLOPs of a round and the ε of training with noise
    #[arg(long, value_name = "N", default_value_t = 600)]
    pub examples: u64,
    /// δ of the ε of noise
    #[arg(long, value_name = "X", default_value_t = crate::privacy_bound::DELTA)]
    pub delta: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What to compile.
#[derive(Debug, ClapArgs)]
pub(crate) struct Subject {
    /// Algorithm, such as `fedprox` or `fedprox(fedavg)`
    pub spec: String,
    /// Model
    #[arg(long, default_value = crate::settings::MODEL)]
    pub model: String,
    /// What of the model trains: all, or lora:RANK[:ALPHA], as of `fedround run`
    #[arg(long, value_name = "PART", default_value_t = Train::All)]
    pub train: Train,
    /// Variant of an auxiliary network, as in discriminator=linear; may be repeated
    #[arg(long, value_name = "NAME=VARIANT")]
    pub aux: Vec<String>,
    /// Dataset, for the shape of its examples; only data of your own is read, such as images:DIR
    #[arg(long, value_name = "DATA", default_value = crate::settings::DATA)]
    pub data: String,
    #[command(flatten)]
    pub reading: ReadArgs,
    /// Number of clients
    #[arg(long, value_name = "N", default_value_t = crate::settings::CLIENTS)]
    pub clients: usize,
    /// Hyper-parameter, as in mu=0.1; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// What is written below the options has its own lines, which the help would break a second time.
    #[test]
    fn texts_below_options_fit_the_help() {
        fn check(command: &clap::Command) {
            let text = command.get_after_help().map(ToString::to_string);
            for line in text.unwrap_or_default().lines() {
                let width = line.chars().count();
                assert!(width <= 100, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Args::command());
    }
}

//! The command line: the subcommands of `fedround`, and the arguments of those that have no module for them.

pub(crate) mod headings;
pub(crate) mod manual;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::bench::BenchArgs;
use crate::compare::CompareArgs;
use crate::compile::args::{ExplainArgs, GraphArgs, OptArgs};
use crate::data::DataArgs;
use crate::doctor::DoctorArgs;
#[cfg(feature = "flower")]
use crate::federation::{CoordinatorArgs, FederationArgs, PartyArgs};
use crate::inspect::InspectArgs;
use crate::new::NewArgs;
use crate::report::ReportArgs;
use crate::reproduce::ReproduceArgs;
use crate::run::{ResumeArgs, RunArgs, SettingArgs, TestArgs};
use crate::sweep::SweepArgs;
use crate::trained::args::{EvalArgs, ExportArgs, PredictArgs};

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
  fedround new my-algorithm --path fedround         a crate of yours, beside a clone of fedround
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

impl Args {
    /// Reads a command line, of which the first word is the program's name. A negative number after a switch is its
    /// value: that the number is wrong says more than that no switch is called so.
    pub fn read<I>(words: I) -> Result<Self, clap::Error>
    where
        I: IntoIterator,
        I::Item: Into<OsString> + Clone,
    {
        let mut command = with_negative_numbers(Self::command());
        let mut matches = command.try_get_matches_from_mut(words)?;
        let read = Self::from_arg_matches_mut(&mut matches);
        read.map_err(|error| error.format(&mut command))
    }
}

/// A command whose switches, and those of its subcommands, may have a negative number as their value.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let of_switch = |arg: clap::Arg| {
        let is_switch = arg.get_long().is_some() && arg.get_action().takes_values();
        match is_switch {
            true => arg.allow_negative_numbers(true),
            false => arg,
        }
    };
    let command = command.mut_args(of_switch);
    command.mut_subcommands(with_negative_numbers)
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
    /// Show the parties and runs of a SuperLink, and stop runs
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
    /// Print JSON, as docs/json.md describes it
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

const CONFIG_EXAMPLES: &str = "\
Examples:
  fedround config fedprox --set mu=0.1                       what `run` would use
  fedround config --config runs/a/config.toml --rounds 50    those of a run, with more rounds
  fedround config fedavg --data images:photos > photos.toml  a file for `run --config`";

/// Prints what a run would run with: defaults, under the files of --config, under the flags.
#[derive(Debug, ClapArgs)]
#[command(after_help = CONFIG_EXAMPLES)]
pub(crate) struct ConfigArgs {
    /// Algorithm, such as `fedprox` or `fedprox(scaffold)`
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

#[cfg(test)]
mod tests {
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

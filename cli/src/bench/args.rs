//! The arguments of `fedround bench`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value};

use super::TaskName;
use super::sweep::Sweep;
use crate::args::headings::ENGINE;
use crate::drawing::drawing_path;

/// Headings of groups of options.
const TASK: &str = "What is trained";
const MEASURED: &str = "Measurements";
const OUTPUT: &str = "Output";

const BENCH: &str = "\
Tasks (one local epoch of plain SGD):
  lr-mnist       1000 clients, iid, logistic regression, cohort 10, batch 10
  2nn-mnist      100 clients, 2 shards, 784-200-200-10, cohort 10, batch 10
  cnn-mnist      100 clients, 2 shards, McMahan's CNN, cohort 10, batch 20
  lenet-cifar10  100 clients, 2 shards, LeNet-5, cohort 10, batch 50
  pfl-cifar10    600 clients, iid, pfl-research's CNN, cohort 50, batch 10
  synth          2nn-mnist on synthetic digits, which need no files

The data folder holds mnist/ and cifar-10-batches-bin/. Round 1 warms up and is not timed, unless
it is the only one.

Examples:
  fedround bench                                        one measurement, as JSON
  fedround bench scaffold --model cnn --table           another algorithm and model, as a table
  fedround bench --factors --runs 3 --markdown          what fusion, batching and threads give
  fedround bench --task 2nn-mnist --data-dir data --markdown --peers results/
  fedround bench --sweep clients=100,1000,10000,100000 --examples 40 --rounds 100 --runs 3 \\
      --markdown --plot clients.svg";

/// Measures an algorithm on a benchmark task: with the same data, partition, cohorts, batches,
/// initial parameters and report as its peers in other frameworks.
#[derive(Debug, Args)]
#[command(after_help = BENCH)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub one: OneArgs,
    /// Measure what each speed factor gives: fusion, client batching, replay, threads, evaluation
    #[arg(long, help_heading = MEASURED, conflicts_with = "sweep")]
    pub factors: bool,
    /// Measure over a number of clients or a cohort's size, as in cohort=1,5,20
    #[arg(long, help_heading = MEASURED, value_name = "NAME=N,…")]
    pub sweep: Option<Sweep>,
    /// Measurements of each kind, taken in turns, of which medians are reported [default: 1]
    #[arg(long, help_heading = MEASURED, value_name = "N")]
    pub runs: Option<usize>,
    /// Reports on the task by this or other programs, with the same fields: a JSON file, or a folder
    /// of them; may be repeated
    #[arg(long, help_heading = MEASURED, value_name = "PATH")]
    pub peers: Vec<PathBuf>,
    /// Measure the share of time in which a GPU runs no kernel, in a slower run of its own; for GPUs
    /// that time kernels themselves, without replay
    #[arg(long, help_heading = MEASURED)]
    pub idle: bool,
    /// Print JSON; without --table and --markdown it is what is printed anyway
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["markdown", "table"])]
    pub json: bool,
    /// Print a Markdown table in place of JSON
    #[arg(long, help_heading = OUTPUT)]
    pub markdown: bool,
    /// Print a table for a terminal in place of JSON
    #[arg(long, help_heading = OUTPUT, conflicts_with = "markdown")]
    pub table: bool,
    /// Write the JSON here too
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Draw the sweep in this file: .svg, or .png or .pdf in a build with --features raster
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", requires = "sweep", value_parser = drawing_path)]
    pub plot: Option<PathBuf>,
}

const THREADS: usize = 2;

/// One measurement.
#[derive(Clone, Debug, Args)]
pub(crate) struct OneArgs {
    /// Algorithm
    #[arg(default_value = "fedavg")]
    pub spec: String,
    /// Task, as described below
    #[arg(long, help_heading = TASK, value_enum, hide_possible_values = true, default_value_t = TaskName::Synth)]
    pub task: TaskName,
    /// Hyper-parameter, as in mu=0.1; may be repeated
    #[arg(long, help_heading = TASK, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Model; see `fedround list models` [default: the task's]
    #[arg(long, help_heading = TASK)]
    pub model: Option<String>,
    /// Rounds, the warm-up included [default: the task's]
    #[arg(long, help_heading = TASK, value_name = "N")]
    pub rounds: Option<usize>,
    /// Local step size [default: the task's]
    #[arg(long, help_heading = TASK, value_name = "X")]
    pub lr: Option<f64>,
    /// Clients [default: the task's]; with --clients or --examples they hold equally many
    /// examples, which several share where there are too few
    #[arg(long, help_heading = TASK, value_name = "N")]
    pub clients: Option<usize>,
    /// Examples of a client [default: the task's]
    #[arg(long, help_heading = TASK, value_name = "N")]
    pub examples: Option<usize>,
    /// Clients of a round [default: the task's, if the algorithm draws some]
    #[arg(long, help_heading = TASK, value_name = "N")]
    pub cohort: Option<usize>,
    /// Folder that holds the folders of datasets [default: data]
    #[arg(long, help_heading = TASK, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Clients trained at once; on Linux the process is pinned to as many cores
    #[arg(long, help_heading = ENGINE, value_name = "N", default_value_t = THREADS)]
    pub threads: usize,
    /// Where clients train: cpu, wgpu[:N], cuda[:N] or auto, or several that share a cohort, as in
    /// cuda:0,cuda:1; see `fedround doctor`
    #[arg(long, help_heading = ENGINE, value_name = "D", default_value = "cpu")]
    pub device: String,
    /// Float type of the operands of matrix products and convolutions: f32, bf16 or f16
    #[arg(long, help_heading = ENGINE, value_name = "T", default_value = "f32")]
    pub precision: String,
    /// Form of convolutions of clients in one graph: grouped, unfold, split or auto
    #[arg(long, help_heading = ENGINE, value_name = "C", default_value = "auto")]
    pub convolutions: String,
    /// Multiply every pixel with the weights themselves: no Winograd convolutions on the CPU
    #[arg(long, help_heading = ENGINE)]
    pub exact_conv: bool,
    /// Clients that run in one graph, with a client axis: N, auto or off
    #[arg(long, help_heading = ENGINE, value_name = "N", default_value = "auto")]
    pub cohort_batch: String,
    /// Whether a GPU records the steps of loops over batches and replays them: auto (on NVIDIA GPUs), off,
    /// on or require
    #[arg(long, help_heading = ENGINE, value_name = "G", default_value = "auto")]
    pub graphs: String,
    /// GPU memory that the clients' examples may take: auto (a quarter), off (each batch is copied) or a size
    #[arg(long, help_heading = ENGINE, value_name = "SIZE", default_value = "auto")]
    pub device_data: String,
    /// Run the ops of a step one by one: on the CPU, without our fusion
    #[arg(long, help_heading = ENGINE)]
    pub no_fusion: bool,
    /// Evaluate on the test set after each round, within the measured time
    #[arg(long, help_heading = TASK)]
    pub evaluate: bool,
}

impl OneArgs {
    /// The same as arguments of a command.
    pub fn line(&self) -> Vec<OsString> {
        let number = |n: Option<usize>| n.map(|n| n.to_string());
        let options = [
            ("--task", Some(self.task.task().name.to_owned())),
            ("--model", self.model.clone()),
            ("--rounds", number(self.rounds)),
            ("--lr", self.lr.map(|lr| lr.to_string())),
            ("--clients", number(self.clients)),
            ("--examples", number(self.examples)),
            ("--cohort", number(self.cohort)),
            ("--threads", Some(self.threads.to_string())),
            ("--device", Some(self.device.clone())),
            ("--precision", Some(self.precision.clone())),
            ("--convolutions", Some(self.convolutions.clone())),
            ("--cohort-batch", Some(self.cohort_batch.clone())),
            ("--graphs", Some(self.graphs.clone())),
            ("--device-data", Some(self.device_data.clone())),
        ];
        let options = options
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        let sets = self.set.iter().map(|set| ("--set", set.clone()));
        let pairs = options.chain(sets);
        let mut line: Vec<OsString> = vec![self.spec.clone().into()];
        line.extend(pairs.flat_map(|(name, value)| [name.into(), value.into()]));
        if let Some(dir) = &self.data_dir {
            line.extend(["--data-dir".into(), dir.clone().into()]);
        }
        let flags = [
            ("--exact-conv", self.exact_conv),
            ("--no-fusion", self.no_fusion),
            ("--evaluate", self.evaluate),
        ];
        line.extend(
            flags
                .iter()
                .filter(|(_, on)| *on)
                .map(|(name, _)| name.into()),
        );
        line
    }

    /// What a report says of them: what is not the default of the task, and how many clients run in
    /// one graph.
    pub fn options(&self, cohort_batch: usize) -> Map<String, Value> {
        let count = |n: Option<usize>| n.map(Value::from);
        let flag = |on: bool| on.then_some(Value::Bool(true));
        let text = |given: &str, default: &str| (given != default).then(|| Value::from(given));
        let options = [
            ("spec", text(&self.spec, "fedavg")),
            ("model", self.model.clone().map(Value::from)),
            ("clients", count(self.clients)),
            ("examples", count(self.examples)),
            ("cohort", count(self.cohort)),
            ("cohort_batch", Some(cohort_batch.into())),
            ("convolutions", text(&self.convolutions, "auto")),
            ("precision", text(&self.precision, "f32")),
            (
                "threads",
                count(Some(self.threads).filter(|n| *n != THREADS)),
            ),
            ("graphs", text(&self.graphs, "auto")),
            ("device_data", text(&self.device_data, "auto")),
            ("exact_conv", flag(self.exact_conv)),
            ("no_fusion", flag(self.no_fusion)),
            ("evaluate", flag(self.evaluate)),
            ("set", text(&self.set.join(" "), "")),
        ];
        let given = options.into_iter();
        let given = given.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        given.collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        one: OneArgs,
    }

    #[test]
    fn a_line_gives_the_arguments_again() {
        let text = "bench fedprox --task cnn-mnist --set mu=0.1 --set lr=0.5 --model 2nn --rounds 3 \
            --lr 0.25 --clients 7 --examples 20 --cohort 2 --data-dir d --threads 1 \
            --device wgpu:1 --precision bf16 --convolutions split --cohort-batch off --graphs on --device-data off --exact-conv --no-fusion --evaluate";
        let one = Line::parse_from(text.split_whitespace()).one;
        let again = Line::parse_from(std::iter::once("bench".into()).chain(one.line())).one;
        assert_eq!(format!("{one:?}"), format!("{again:?}"));
        assert_eq!(one.line().len(), text.split_whitespace().count() - 1);
    }
}

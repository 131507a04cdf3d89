//! The arguments of `fedround bench`.

use std::path::PathBuf;

use clap::Args;

use super::TaskName;

const BENCH: &str = "\
Tasks (FedAvg, one local epoch of plain SGD):
  lr-mnist       1000 clients, iid, logistic regression, cohort 10, batch 10
  2nn-mnist      100 clients, 2 shards, 784-200-200-10, cohort 10, batch 10
  cnn-mnist      100 clients, 2 shards, McMahan's CNN, cohort 10, batch 20
  lenet-cifar10  100 clients, 2 shards, LeNet-5, cohort 10, batch 50
  pfl-cifar10    600 clients, iid, pfl-research's CNN, cohort 50, batch 10

The data folder holds mnist/ and cifar-10-batches-bin/. Round 1 warms up and is not timed, unless
it is the only one.";

/// Runs a benchmark task with the same data, partition, cohorts, batches, initial parameters and
/// report as its peers in other frameworks.
#[derive(Debug, Args)]
#[command(after_help = BENCH)]
pub(in crate::cli) struct BenchArgs {
    /// Task
    #[arg(long, value_enum)]
    pub task: TaskName,
    /// Rounds, the warm-up included [default: the task's]
    #[arg(long, value_name = "N")]
    pub rounds: Option<usize>,
    /// Local step size [default: the task's]
    #[arg(long, value_name = "X")]
    pub lr: Option<f64>,
    /// Folder of the data
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Clients trained at once; on Linux the process is pinned to as many cores
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub threads: usize,
    /// Where clients train: cpu, wgpu[:N], cuda[:N] or auto; see `fedround doctor`
    #[arg(long, value_name = "D", default_value = "cpu")]
    pub device: String,
    /// Clients that run in one graph, with a client axis: N, auto or off
    #[arg(long, value_name = "N", default_value = "auto")]
    pub cohort_batch: String,
    /// Write the report here too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

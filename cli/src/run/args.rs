//! The arguments of `fedround run`, and those that `fedround compare` shares with it.

use std::path::PathBuf;

use clap::Args;

use super::track::Track;
use crate::args::headings::{DATA, ENGINE, FAULTS, MODEL, PRIVACY, TESTS};
use crate::settings::faults::FaultArgs;
use crate::settings::read_args::ReadArgs;

const EXAMPLES: &str = "\
Examples:
  fedround run fedprox
  fedround run fedavg --data mnist --data-dir data --partition dirichlet:0.5 --rounds 200
  fedround run fedprox --set mu=0.1 --set lr=0.02 --out runs/mu01
  fedround run --config runs/mu01/config.toml --out runs/again      the same run, bit for bit
  fedround run fedavg --weights runs/mu01           start from the model of another run
  fedround run fedavg --json | jq .test_accuracy

The run folder holds config.toml, metrics.jsonl (one object a round), summary.json,
model.safetensors, curves.svg (accuracies and losses), classes.svg (the accuracy of each class),
checkpoints, clients/ if clients have models of their own, and clients.redb if they have states.
A new run overwrites nothing. Ctrl-C, SIGTERM and SIGHUP finish the current round and write
everything; a second signal stops at once. `fedround resume DIR` continues a run that was stopped,
that crashed or that lost power.";

const RESUME_EXAMPLES: &str = "\
Examples:
  fedround resume runs/mu01
  fedround resume runs/mu01 --rounds 400           100 rounds more than the 300 of its config.toml

The run goes on from its last good checkpoint and ends with the same bits as a run that was never
stopped: the same model, metrics.jsonl and summary.json, but for times. Without any checkpoint it
starts again from its configuration.

You may edit rounds, threads, checkpoint and other settings that results do not depend on in its
config.toml before. Any other edit is an error.";

/// Goes on with a run that was stopped, or trains a finished one for more rounds.
#[derive(Debug, Args)]
#[command(after_help = RESUME_EXAMPLES)]
pub(crate) struct ResumeArgs {
    /// Run folder
    pub dir: PathBuf,
    /// Total number of rounds, including completed ones [default: as in its config.toml]
    #[arg(long, value_name = "R")]
    pub rounds: Option<usize>,
    /// Clients trained at once; results do not depend on it [default: as in its config.toml]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// When checkpoints are written, as of `fedround run` [default: as in its config.toml]
    #[arg(long, value_name = "WHEN")]
    pub checkpoint: Option<String>,
    /// Print summary.json, and nothing else, on stdout
    #[arg(long)]
    pub json: bool,
    /// No progress and no table
    #[arg(long, short)]
    pub quiet: bool,
}

/// Compiles an algorithm and trains it over simulated clients.
///
/// Settings come from the defaults, then the file of --config, then the flags; the later wins.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// Algorithm, such as `fedprox` or `fedprox(fedavg)`; see `fedround list`
    pub spec: Option<String>,
    #[command(flatten)]
    pub settings: SettingArgs,
    #[command(flatten)]
    pub tests: TestArgs,
    /// Seed of the partition, sampling, batch order and initial parameters [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Write metrics in another format, too, while the run goes on; several with commas
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub track: Vec<Track>,
    /// Run folder [default: runs/SPEC-DATA-seedSEED, or the next free name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print summary.json, and nothing else, on stdout
    #[arg(long)]
    pub json: bool,
    /// No progress and no table
    #[arg(long, short)]
    pub quiet: bool,
}

/// On what a run is carried out.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EngineArgs {
    /// Clients trained at once; results do not depend on it [default: one per core]
    #[arg(long, help_heading = ENGINE, value_name = "N")]
    pub threads: Option<usize>,
    /// Where clients train: cpu, wgpu[:N], cuda[:N] or auto, or several that share a cohort, as in
    /// cuda:0,cuda:1; see `fedround doctor` [default: cpu]
    #[arg(long, help_heading = ENGINE, value_name = "D")]
    pub device: Option<String>,
    /// Float type of the operands of matrix products and convolutions: f32, bf16 or f16; the CPU
    /// rounds to the short ones, which is slower [default: f32]
    #[arg(long, help_heading = ENGINE, value_name = "T")]
    pub precision: Option<String>,
    /// Form of convolutions of clients in one graph: grouped, unfold, split, or auto, the fastest on a
    /// GPU [default: auto]
    #[arg(long, help_heading = ENGINE, value_name = "C")]
    pub convolutions: Option<String>,
    /// Multiply every pixel with the weights themselves: no Winograd convolutions, which are faster on the
    /// CPU and round a little more
    #[arg(long, help_heading = ENGINE)]
    pub exact_conv: bool,
    /// Number of clients that train together, as one batched graph: N, auto or off [default: auto]
    #[arg(long, help_heading = ENGINE, value_name = "N")]
    pub cohort_batch: Option<String>,
    /// Memory of clients' states, such as 512MB or 2GiB; those used longest ago are kept in a file of
    /// the run folder. Results do not depend on it [default: 1GiB]
    #[arg(long, help_heading = ENGINE, value_name = "SIZE")]
    pub client_memory: Option<String>,
    /// Record local steps on a GPU once and replay them (CUDA graphs): auto, which does so on NVIDIA GPUs,
    /// off, on, or require, with which a step that cannot be recorded is an error [default: auto]
    #[arg(long, help_heading = ENGINE, value_name = "G")]
    pub graphs: Option<String>,
    /// GPU memory that the clients' examples may take, such as 2GiB; if they fit, batches are gathered there.
    /// auto is a quarter; off copies each batch from the host. Results do not depend on it [default: auto]
    #[arg(long, help_heading = ENGINE, value_name = "SIZE")]
    pub device_data: Option<String>,
}

/// What trains on what.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SettingArgs {
    /// TOML file of settings, such as the config.toml of an earlier run. Its key `include` names other
    /// files to start from
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Hyper-parameter, as in mu=0.1, or fedavg.lr=0.1 to name its layer, otherwise the outermost that has
    /// it; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Dataset by name (see `fedround data list`), or data of your own: images:DIR, csv:FILE,
    /// parquet:FILE, npy:X,Y, npz:FILE or leaf:DIR [default: synth-digits, digits drawn here]
    #[arg(long, help_heading = DATA, value_name = "DATA")]
    pub data: Option<String>,
    /// Folder that holds the folders of datasets, such as DIR/mnist [default: data]
    #[arg(long, help_heading = DATA, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadArgs,
    /// Number of clients [default: 100; with --partition natural, all that the data names]
    #[arg(long, help_heading = DATA, value_name = "N")]
    pub clients: Option<usize>,
    /// Who gets which examples: iid, shards:N, dirichlet:ALPHA or another of `fedround list
    /// partitioners` [default: shards:2]
    #[arg(long, help_heading = DATA, value_name = "P")]
    pub partition: Option<String>,
    /// Seed of who has which examples: of the partition, and of examples that are public or held back for
    /// validation [default: the run's seed]
    #[arg(long, help_heading = DATA, value_name = "SEED", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub partition_seed: Option<u64>,
    /// Share of the training examples that are public: the server and every client have them, and they
    /// are dealt to none. For algorithms that read them, such as fedmd [default: none]
    #[arg(long, help_heading = DATA, value_name = "FRACTION")]
    pub public_share: Option<f64>,
    /// Model; see `fedround list models` [default: 2nn]
    #[arg(long, help_heading = MODEL)]
    pub model: Option<String>,
    /// Variant of an auxiliary network, as in discriminator=linear; may be repeated. Networks
    /// themselves are added where the algorithm needs them
    #[arg(long, help_heading = MODEL, value_name = "NAME=VARIANT")]
    pub aux: Vec<String>,
    /// Number of rounds [default: 200]
    #[arg(long, value_name = "R")]
    pub rounds: Option<usize>,
    /// Start from these weights: a run folder, its model.safetensors, another safetensors file, or a
    /// file of torch.save; tensors that it lacks are drawn from the seed
    #[arg(long, help_heading = MODEL, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Rule that turns names in the file of --weights into ours, as in ^fc=head, or torchvision-resnet
    /// for all rules of torchvision's ResNets; may be repeated
    #[arg(long, help_heading = MODEL, value_name = "FROM=TO", requires = "weights")]
    pub rename: Vec<String>,
    /// Which part of the model trains: all, or lora:RANK[:ALPHA], low-rank adapters of its linear layers; its
    /// weights then stay as they are and are not sent [default: all]
    #[arg(long, help_heading = MODEL, value_name = "PART")]
    pub train: Option<String>,
    /// Take the states of the server, too, such as FedAvgM's velocity, from the last checkpoint of the run
    /// folder of --weights; the algorithm must have the same states
    #[arg(long, help_heading = MODEL, requires = "weights")]
    pub server_state: bool,
    /// Draw noise of differential privacy from the seed: the run repeats bit for bit, and keeps nothing
    /// private [default of experiments: compare, inspect]
    #[arg(long, help_heading = PRIVACY, conflicts_with = "system_noise")]
    pub reproducible_noise: bool,
    /// Draw noise of differential privacy from the system's generator: each run has other noise
    /// [default of run and coordinator]
    #[arg(long, help_heading = PRIVACY)]
    pub system_noise: bool,
    /// δ of the (ε, δ) that are reported where noise of differential privacy is added; it should be
    /// below 1 / the number of examples [default: 1e-5]
    #[arg(long, help_heading = PRIVACY, value_name = "X")]
    pub delta: Option<f64>,
    #[command(flatten)]
    pub engine: EngineArgs,
    /// When checkpoints are written: auto (less than 2 % of the time), rounds:N, minutes:M or off; the last two
    /// are kept [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub checkpoint: Option<String>,
    /// Changes of training images, such as crop:4,flip; test images are resized and normalised
    /// alike [default: none]
    #[arg(long, help_heading = DATA, value_name = "STEPS")]
    pub augment: Option<String>,
    /// Let the last client join after ROUNDS rounds; from then on it trains every round with a share SHARE of
    /// the others (0 to 1), in place of the algorithm's own [default: all are there from the start]
    #[arg(long, help_heading = FAULTS, value_name = "ROUNDS:SHARE")]
    pub newcomer: Option<String>,
    #[command(flatten)]
    pub faults: FaultArgs,
    /// What becomes of clients whose updates are not finite: skip, the round is repeated without them,
    /// or stop, the run ends with an error [default: skip]
    #[arg(long, help_heading = FAULTS, value_name = "skip|stop")]
    pub on_nan: Option<String>,
    /// End the first phase, or a run without phases, when this accuracy is reached, such as 0.975. It is
    /// measured on validation examples if there are any, or else on the test set [default: no early end]
    #[arg(long, help_heading = TESTS, value_name = "A")]
    pub goal: Option<f64>,
}

impl SettingArgs {
    /// The same for a command that makes experiments, whose results are to repeat: unless noise of the
    /// system is asked for, it is drawn from the seed.
    pub fn of_experiments(&self) -> Self {
        Self {
            reproducible_noise: !self.system_noise,
            ..self.clone()
        }
    }
}

/// When and how a model is tested.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TestArgs {
    /// Evaluate on the test set every N rounds, and after the last [default: 5]
    #[arg(long, help_heading = TESTS, value_name = "N")]
    pub eval_every: Option<usize>,
    /// Fraction of each client's training examples that is held back, and on which the best model and
    /// --goal are chosen [default: none; then nothing is chosen]
    #[arg(long, help_heading = TESTS, value_name = "FRACTION")]
    pub validation: Option<f64>,
    /// Model that is kept: best on validation examples, last, or both (the last one as
    /// model-last.safetensors) [default: last]
    #[arg(long, help_heading = TESTS, value_name = "best|last|both")]
    pub keep: Option<String>,
    /// Report how many rounds and bytes it takes to reach this accuracy, such as 0.9
    #[arg(long, help_heading = TESTS, value_name = "A", value_parser = accuracy)]
    pub target: Option<f64>,
    /// At each evaluation, report the accuracy and the loss of each client, and of each domain where the
    /// data has some, too
    #[arg(long, help_heading = TESTS)]
    pub track_clients: bool,
    /// Report the test accuracy of an ensemble of the clients' own models, too: the mean of their logits
    #[arg(long, help_heading = TESTS)]
    pub ensemble: bool,
    /// Report the AUC of protected attributes in representations, too: of the clients' adversaries as
    /// they trained, and of others that are fitted afterwards
    #[arg(long, help_heading = TESTS)]
    pub adversary: bool,
    /// Beam width when models that describe images are tested: sentences that are kept at each word
    /// [default: 1, greedy]
    #[arg(long, help_heading = TESTS, value_name = "N")]
    pub beam: Option<usize>,
}

/// A number, for a flag that is easily taken for that of a table's column.
fn accuracy(text: &str) -> Result<f64, String> {
    let expected = "expected an accuracy, such as 0.9; the column of a table is --target-column";
    text.parse().map_err(|_| expected.to_owned())
}

//! The arguments of `fedround coordinator`, `party` and `federation`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::superlink_args::LinkArgs;
use crate::args::headings::TESTS;
use crate::run::{SettingArgs, TestArgs};

const COORDINATOR_EXAMPLES: &str = "\
Examples:
  fedround coordinator fedprox --superlink http://127.0.0.1:8000 --state fed --clients 2
  fedround coordinator scaffold --superlink https://fl.example.org --state fed --clients 10 \\
      --min-parties 8 --deadline 600 --data mine --data-dir data --own-data

Parties compile the same algorithm with the same settings: run `fedround party` with the same
SPEC, --set, --model, --data, --clients, --partition, --seed, --validation and --rounds. The
coordinator trains on no examples; of its own dataset it uses the test examples, and with
--validation those that its clients would hold back. Parties compare checksums of its examples
with those of theirs; with --own-data, as the parties, it sends none. --deadline is in real
seconds here.

The folder of --state is a run folder: `fedround eval`, `predict` and `export` read it. To continue
a run that was stopped, give the same command again. The SuperLink has to run with
`--isolation process`: docs/federation.md shows how to start one.";

const PARTY_EXAMPLES: &str = "\
Examples:
  fedround party fedprox --superlink http://127.0.0.1:8000 --state party0 --clients 2 --host 0
  fedround party scaffold --superlink https://fl.example.org --state party --clients 10 --host 3 \\
      --data mine --data-dir data --own-data --approve 3f0c2d...
  fedround party fedavg --superlink http://127.0.0.1:8000 --state block --clients 1000 --host 0-249
  fedround party fedavg --superlink http://127.0.0.1:8000 --state party0 --clients 2 --host 0 \\
      --for-server-app --approve 3f0c2d...

Without --approve the party prints what it would send and the program's hash, and stops.";

/// Coordinates a federation: runs the server's part of an algorithm, and asks parties for that of the
/// clients.
#[derive(Debug, Args)]
#[command(after_help = COORDINATOR_EXAMPLES)]
pub(crate) struct CoordinatorArgs {
    /// Algorithm, as for `fedround run`
    pub spec: Option<String>,
    #[command(flatten)]
    pub link: LinkArgs,
    /// File of the secret with which the SuperLink was started (--superexec-auth-secret-file)
    #[arg(long, value_name = "FILE")]
    pub secret: Option<PathBuf>,
    /// Folder of the run, and of what the coordinator needs to go on with it
    #[arg(long, value_name = "DIR")]
    pub state: PathBuf,
    /// A round begins when so many parties are online
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub min_parties: usize,
    /// Bundle of a Flower app (`flwr build`), with which stock SuperNodes take part beside parties of
    /// fedround, in algorithms whose clients train by plain SGD: docs/federation.md
    #[arg(long, value_name = "FILE.fab")]
    pub client_app: Option<PathBuf>,
    /// Seconds that a round waits for them, before it goes on with those that there are
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0)]
    pub patience: f64,
    /// The parties have datasets of their own: send them no checksums of the examples here
    #[arg(long)]
    pub own_data: bool,
    /// Parties of several clients send sums over them where the server needs no single values; results
    /// can differ from a simulation's in the last place of a number
    #[arg(long)]
    pub partial_sums: bool,
    #[command(flatten)]
    pub settings: SettingArgs,
    #[command(flatten)]
    pub tests: TestArgs,
    /// Seed of every random choice [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Print summary.json, and nothing else, on stdout
    #[arg(long)]
    pub json: bool,
    /// No progress and no table
    #[arg(long, short)]
    pub quiet: bool,
}

/// Takes part in a federation: trains the clients that are here.
#[derive(Debug, Args)]
#[command(after_help = PARTY_EXAMPLES)]
pub(crate) struct PartyArgs {
    /// Algorithm, as the coordinator's
    pub spec: Option<String>,
    #[command(flatten)]
    pub link: LinkArgs,
    /// Private key, of `ssh-keygen -t ecdsa` or in PEM [default: one that is made in --state]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Folder of the party's key and of its clients' states
    #[arg(long, value_name = "DIR")]
    pub state: PathBuf,
    /// Numbers of the clients that are here: 3, 0-249, or 0,2,7-9
    #[arg(long, value_name = "CLIENTS")]
    pub host: String,
    /// The dataset is that of the clients here alone, and is dealt to them [default: it is the whole
    /// federation's, and the clients here get their part of it]
    #[arg(long)]
    pub own_data: bool,
    /// Train for a ServerApp of Flower, in Python, instead of a coordinator of fedround. It sends models
    /// and may change learning rate, epochs, batch size and proximal term; it names no program
    #[arg(long)]
    pub for_server_app: bool,
    /// Hash of a program that this party takes part in, a file of hashes, or `any`
    #[arg(long, value_name = "HASH|FILE|any")]
    pub approve: Option<String>,
    /// Seconds between signs of life, 10 to 1800
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub heartbeat: f64,
    #[command(flatten)]
    pub settings: SettingArgs,
    /// Fraction of each client's training examples that is held back, as the coordinator's [default: none]
    #[arg(long, help_heading = TESTS, value_name = "FRACTION", conflicts_with = "for_server_app")]
    pub validation: Option<f64>,
    /// Seed, as the coordinator's [default: 1]
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Say nothing of single requests
    #[arg(long, short)]
    pub quiet: bool,
}

/// Shows what a SuperLink knows, and stops runs.
#[derive(Debug, Args)]
pub(crate) struct FederationArgs {
    #[command(subcommand)]
    pub command: FederationCommand,
}

/// What of a federation.
#[derive(Debug, Subcommand)]
pub(crate) enum FederationCommand {
    /// List the parties and the last runs
    Status(StatusArgs),
    /// Stop a run, such as one that is pending although its coordinator is gone: later ones wait for it
    Stop(StopArgs),
}

/// Lists parties and runs.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub link: LinkArgs,
    /// Print JSON, as docs/json.md describes it
    #[arg(long)]
    pub json: bool,
}

/// Stops a run.
#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// Number of the run, as `fedround federation status` lists it
    #[arg(value_name = "RUN")]
    pub run: u64,
    #[command(flatten)]
    pub link: LinkArgs,
}

//! Setters of the single settings of an experiment.

use std::path::PathBuf;

use fedround_data::{Augment, Examples, Partition};
use fedround_exec::{Devices, GraphCapture};
use fedround_models::Train;
use fedround_simulation::{CohortBatch, DeviceData, Faults, LateClient, OnNan};

use super::{Experiment, InitialWeights, Keep};

impl Experiment {
    /// Deals the examples to this many clients.
    #[must_use]
    pub fn clients(mut self, clients: usize) -> Self {
        self.settings.clients = clients;
        self
    }

    /// Deals the examples by this rule.
    #[must_use]
    pub fn partition(mut self, partition: Partition) -> Self {
        self.settings.partition = partition;
        self
    }

    /// Draws everything random from this seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Draws who has which examples from this seed, and everything else from that of [`seed`](Self::seed).
    #[must_use]
    pub fn partition_seed(mut self, seed: u64) -> Self {
        self.settings.partition_seed = Some(seed);
        self
    }

    /// Starts from the weights of a file, such as a run's `model.safetensors`, instead of ones that
    /// are drawn. [`Run::loaded_weights`](super::Run::loaded_weights) says which of the model's tensors the file had.
    #[must_use]
    pub fn weights(mut self, weights: impl Into<InitialWeights>) -> Self {
        self.settings.weights = Some(weights.into());
        self
    }

    /// Trains this of the model, such as low-rank adapters of its linear layers; the rest stays as it is.
    #[must_use]
    pub fn train(mut self, train: Train) -> Self {
        self.settings.train = train;
        self
    }

    /// Starts from the states that the server of another run has in a checkpoint, such as FedAvgM's velocity. The
    /// algorithm must have states of the same names and shapes.
    /// [`Run::loaded_server_states`](super::Run::loaded_server_states) names them.
    #[must_use]
    pub fn server_state(mut self, checkpoint: impl Into<PathBuf>) -> Self {
        self.settings.server_state = Some(checkpoint.into());
        self
    }

    /// Changes training images by these steps.
    #[must_use]
    pub fn augment(mut self, augment: Augment) -> Self {
        self.settings.augment = augment;
        self
    }

    /// Has the last client join late.
    #[must_use]
    pub fn late_client(mut self, client: LateClient) -> Self {
        self.settings.late_client = Some(client);
        self
    }

    /// Lets clients fail or be late.
    #[must_use]
    pub fn faults(mut self, faults: Faults) -> Self {
        self.settings.faults = faults;
        self
    }

    /// Chooses what becomes of clients whose updates are not finite.
    #[must_use]
    pub fn on_nan(mut self, choice: OnNan) -> Self {
        self.settings.on_nan = choice;
        self
    }

    /// Sets this fraction of the training examples aside as public ones; see
    /// [`Settings::public_share`](super::Settings::public_share).
    #[must_use]
    pub fn public_share(mut self, fraction: f64) -> Self {
        self.settings.public_share = Some(fraction);
        self
    }

    /// Gives the server and every client these examples, in place of a share of the training examples. They
    /// must have the columns of those, of the same elements and shapes, and labels that are classes of the data.
    #[must_use]
    pub fn public_examples(mut self, examples: Examples) -> Self {
        self.public = Some(examples);
        self
    }

    /// Holds this fraction of each client's training examples back for validation; see
    /// [`Settings::validation`](super::Settings::validation).
    #[must_use]
    pub fn validation(mut self, fraction: f64) -> Self {
        self.settings.validation = Some(fraction);
        self
    }

    /// Chooses which models the report has.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.settings.keep = keep;
        self
    }

    /// Ends the first phase at this accuracy; see [`Settings::goal`](super::Settings::goal).
    #[must_use]
    pub fn goal(mut self, accuracy: f64) -> Self {
        self.settings.goal = Some(accuracy);
        self
    }

    /// Evaluates after every so many rounds.
    #[must_use]
    pub fn eval_every(mut self, rounds: usize) -> Self {
        self.settings.eval_every = rounds;
        self
    }

    /// Draws noise of differential privacy from the seed, so that the experiment repeats bit for bit and
    /// keeps nothing private; see [`Settings::reproducible_noise`](super::Settings::reproducible_noise).
    #[must_use]
    pub fn reproducible_noise(mut self) -> Self {
        self.settings.reproducible_noise = true;
        self
    }

    /// Reports the ε of noise of differential privacy at this δ; see [`Settings::delta`](super::Settings::delta).
    #[must_use]
    pub fn delta(mut self, delta: f64) -> Self {
        self.settings.delta = delta;
        self
    }

    /// Trains this many clients at once on the CPU.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = threads;
        self
    }

    /// Trains on these devices: `Device::Cuda(0)`, or `Devices::choose("cuda:0,cuda:1")?` for several.
    #[must_use]
    pub fn devices(mut self, devices: impl Into<Devices>) -> Self {
        self.settings.devices = devices.into();
        self
    }

    /// Computes convolutions on the CPU from the weights themselves; see
    /// [`Settings::exact_conv`](super::Settings::exact_conv).
    #[must_use]
    pub fn exact_conv(mut self) -> Self {
        self.settings.exact_conv = true;
        self
    }

    /// Runs this many clients in one graph.
    #[must_use]
    pub fn cohort_batch(mut self, batch: CohortBatch) -> Self {
        self.settings.cohort_batch = batch;
        self
    }

    /// Chooses how much of a GPU's memory the clients' examples may take.
    #[must_use]
    pub fn device_data(mut self, data: DeviceData) -> Self {
        self.settings.device_data = data;
        self
    }

    /// Chooses whether a GPU captures steps and replays them.
    #[must_use]
    pub fn graph_capture(mut self, capture: GraphCapture) -> Self {
        self.settings.graph_capture = capture;
        self
    }
}

//! The settings of an experiment besides its algorithm, model and data.

use std::path::PathBuf;

use fedround_data::{Augment, Partition};
use fedround_exec::{ConvPolicy, Devices, GraphCapture, Precision};
use fedround_models::Train;
use fedround_simulation::{ByteSize, CohortBatch, DeviceData, Faults, LateClient, OnNan, RunError};

use super::{Experiment, ExperimentError, InitialWeights, Keep};
use crate::model_source::Auxiliaries;
use crate::privacy::DELTA;

/// The settings of an experiment, with the defaults of `fedround run`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Number of clients.
    pub clients: usize,
    /// Who gets which examples.
    pub partition: Partition,
    /// Seed of the partition, the cohorts, the order of batches and the initial parameters.
    pub seed: u64,
    /// Seed of who has which examples, where it is another one: of the partition, and of the examples that are
    /// public or held back for validation. Runs that differ in [`seed`](Self::seed) alone then have the same
    /// clients.
    pub partition_seed: Option<u64>,
    /// Weights to start from; without any, all are drawn from the seed.
    pub weights: Option<InitialWeights>,
    /// What of the model trains: all of it, or adapters beside weights that stay as they are.
    pub train: Train,
    /// A checkpoint of another run, from which the states of the server are taken, such as FedAvgM's velocity;
    /// it must have those of the algorithm. Without it they start anew.
    pub server_state: Option<PathBuf>,
    /// Whether noise of differential privacy is drawn from the seed, so that a run repeats bit for bit. Such
    /// a run is an experiment and keeps nothing private. Otherwise the noise comes from the system's
    /// generator, and only programs without such noise repeat.
    pub reproducible_noise: bool,
    /// The δ of the (ε, δ) that the report has of noise of differential privacy. It should be below 1 / the number
    /// of examples; see [`privacy::smaller_delta`](crate::privacy::smaller_delta).
    pub delta: f64,
    /// Changes of training images. Test images go through the steps that change each image alike.
    pub augment: Augment,
    /// Chosen variants of auxiliary networks; the others have their default.
    pub auxiliaries: Auxiliaries,
    /// The last client, where it joins late.
    pub late_client: Option<LateClient>,
    /// Clients that fail or are late.
    pub faults: Faults,
    /// What becomes of clients whose updates are not finite.
    pub on_nan: OnNan,
    /// Fraction of the training examples, in (0, 1), that are public: the server and every client have
    /// them, and they are dealt to none. They are drawn from the seed before the others are dealt.
    pub public_share: Option<f64>,
    /// Fraction of each client's training examples, in (0, 1), that is held back before training; every
    /// client keeps at least one to train on. Choices of the run, of the [best model](super::Best) and
    /// the [goal](Self::goal), are made on these examples.
    pub validation: Option<f64>,
    /// Which models the report has; the best one needs validation examples.
    pub keep: Keep,
    /// Accuracy in (0, 1] that ends the first phase of the algorithm: the phase's other rounds are left
    /// out, and of an algorithm without phases all others. It is measured on validation examples; without
    /// [`validation`](Self::validation), on the test set, whose accuracy is then no unbiased estimate.
    /// LG-FedAvg ends its rounds of FedAvg so (Liang, Liu et al. 2020, section 3.1).
    pub goal: Option<f64>,
    /// Examples in a batch of an evaluation.
    pub eval_batch: usize,
    /// Rounds between two evaluations on the test set. The last round is always evaluated.
    pub eval_every: usize,
    /// Whether evaluations have the accuracy and the loss of each client and of each domain, which takes
    /// another pass over the test examples.
    pub track_clients: bool,
    /// Whether the clients' own models are evaluated together at the end, too.
    pub ensemble: bool,
    /// Whether adversaries look for protected attributes in representations at the end.
    pub adversary: bool,
    /// Whether the report has the parameters of every client's own model.
    pub personal: bool,
    /// Captions that the search keeps at each word, for models that describe images; 1 is greedy.
    pub beam: usize,
    /// Clients trained at once on the CPU. Results do not depend on it.
    pub threads: usize,
    /// Where clients train.
    pub devices: Devices,
    /// Float type of the operands of matrix products and convolutions.
    pub precision: Precision,
    /// Form of the convolutions of several clients in one graph.
    pub convolutions: ConvPolicy,
    /// Whether the CPU's convolutions multiply every pixel with the weights themselves. Otherwise, large 3x3 and
    /// 5x5 convolutions of stride 1 are computed by Winograd's method, which is faster and rounds a little more.
    pub exact_conv: bool,
    /// Clients that run in one graph.
    pub cohort_batch: CohortBatch,
    /// Whether a GPU captures the steps of loops over batches and replays them.
    pub graph_capture: GraphCapture,
    /// How much of a GPU's memory the clients' examples may take; if they fit, batches are gathered there.
    /// Results do not depend on it.
    pub device_data: DeviceData,
    /// Memory of clients' states from one round to the next; what is more is in a file. Without it all
    /// states are in memory. Results do not depend on it.
    pub client_memory: Option<ByteSize>,
    /// Whether the CPU runs our fused kernels. Without them each op of a step runs by itself, for
    /// comparisons of speed.
    pub fusion: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            clients: 100,
            partition: Partition::Shards { per_client: 2 },
            seed: 1,
            partition_seed: None,
            weights: None,
            train: Train::default(),
            server_state: None,
            reproducible_noise: false,
            delta: DELTA,
            augment: Augment::default(),
            auxiliaries: Auxiliaries::new(),
            late_client: None,
            faults: Faults::default(),
            on_nan: OnNan::default(),
            public_share: None,
            validation: None,
            keep: Keep::default(),
            goal: None,
            eval_batch: 250,
            eval_every: 5,
            track_clients: false,
            ensemble: false,
            adversary: false,
            personal: false,
            beam: 1,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            devices: Devices::default(),
            precision: Precision::default(),
            convolutions: ConvPolicy::default(),
            exact_conv: false,
            cohort_batch: CohortBatch::default(),
            graph_capture: GraphCapture::default(),
            device_data: DeviceData::default(),
            client_memory: None,
            fusion: true,
        }
    }
}

/// The largest number of worker threads, unless the machine has more cores. Each thread has a stack and buffers
/// of its own, and thousands of them end in a crash of the system's allocator instead of an error.
const MOST_THREADS: usize = 1024;

impl Settings {
    /// The seed of who has which examples.
    pub fn dealing_seed(&self) -> u64 {
        self.partition_seed.unwrap_or(self.seed)
    }

    /// Checks what can be checked without the data.
    ///
    /// # Errors
    ///
    /// A count of zero, more clients than a `u32` holds, thousands of threads, an accuracy or fraction that is out
    /// of range, a late client that would never join, or adapters, steps of augmentation or speeds that the
    /// command would refuse.
    pub fn check(&self, rounds: usize) -> Result<(), ExperimentError> {
        let counts = [
            ("rounds", rounds),
            ("eval_every", self.eval_every),
            ("eval_batch", self.eval_batch),
            ("beam", self.beam),
            ("threads", self.threads),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, n)| *n == 0) {
            return Err(ExperimentError::Zero { name });
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let limit = MOST_THREADS.max(cores);
        if self.threads > limit {
            return Err(ExperimentError::TooManyThreads {
                limit,
                found: self.threads,
            });
        }
        if u32::try_from(self.clients).is_err() {
            let found = self.clients;
            return Err(ExperimentError::TooManyClients { found });
        }
        if let Some(found) = self.goal.filter(|goal| !(*goal > 0.0 && *goal <= 1.0)) {
            return Err(ExperimentError::Accuracy {
                name: "goal",
                found,
            });
        }
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return Err(ExperimentError::Delta { found: self.delta });
        }
        if let Some(found) = self.validation.filter(|f| !(*f > 0.0 && *f < 1.0)) {
            return Err(ExperimentError::Validation { found });
        }
        if let Some(found) = self.public_share.filter(|f| !(*f > 0.0 && *f < 1.0)) {
            return Err(ExperimentError::PublicShare { found });
        }
        self.train.check()?;
        self.augment.check()?;
        // Whether lists are long enough is known once the clients are dealt.
        self.faults.check(0).map_err(RunError::from)?;
        if let Some(late) = self.late_client {
            late.check()?;
            let LateClient { after, .. } = late;
            if after >= rounds {
                return Err(ExperimentError::Late { after, rounds });
            }
        }
        Ok(())
    }
}

impl Experiment {
    /// Keeps clients' states in a file beyond this much memory.
    #[must_use]
    pub fn client_memory(mut self, memory: ByteSize) -> Self {
        self.settings.client_memory = Some(memory);
        self
    }
}

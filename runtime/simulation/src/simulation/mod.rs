//! The simulation of a federation in one process.

mod attempt;
#[cfg(test)]
mod capture_tests;
mod checkpoint;
mod client_memory;
mod devices;
mod evaluate;
mod failures;
mod fingerprint;
mod options;
mod parameters;
mod parties;
mod personal;
mod personal_difference;
mod phases;
mod saved_tensors;
mod server_states;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use burn::tensor::DispatchTensor;
use fedround_data::Examples;
use fedround_data::augment::Augment;
use fedround_exec::capture::StepCache;
use fedround_exec::{CaptureStats, ExecError, GraphCapture, Program};
use fedround_passes::lowering::Frontend;
use fedround_random::NoiseKey;

use crate::cohort_batch::CohortBatch;
use crate::dataset::FederatedDataset;
use crate::device_data::DeviceData;
use crate::error::RunError;
use crate::evaluation::BATCH;
use crate::faults::{Faults, Workload};
use crate::init_parameters::initial_values;
use crate::late_client::LateClient;
use crate::non_finite::OnNan;
use crate::parties::Coordinator;
use crate::retry_on_oom::in_smaller_groups;
use crate::round::{Observer, RoundStats, ServerObservation};
use crate::state::State;
use crate::workers::Workers;
use devices::{TrainingDevice, no_thread};
use fingerprint::Digests;
use parameters::hash;

pub(crate) use checkpoint::SavedState;
pub(crate) use parameters::upload;
pub use personal_difference::PersonalDifference;
pub use server_states::ServerStateError;

/// Runs a [`Program`] over simulated clients.
///
/// Results depend on the program, the dataset, the seed and the devices, and not on the number of threads.
pub struct Simulation {
    /// The device that does the server's work and evaluates models. Clients train there, too.
    pub(crate) main_device: TrainingDevice,
    /// Other devices on which clients train. Empty unless the user adds some.
    extra_devices: Vec<TrainingDevice>,
    dataset: FederatedDataset,
    /// Examples that the server and every client have; `None` without any.
    public: Option<Examples>,
    /// The seed of every random choice.
    seed: u64,
    /// The secret key of the noise of differential privacy; `None` if the noise is drawn from the seed.
    secret: Option<NoiseKey>,
    workers: Workers,
    /// The number of worker threads of each CPU device.
    threads: usize,
    /// The number of cores of this machine.
    cores: usize,
    /// How many clients train together in one graph.
    batch: CohortBatch,
    /// Whether steps are captured on GPUs and replayed.
    graphs: GraphCapture,
    /// How much of a GPU's memory the clients' examples may take.
    device_data: DeviceData,
    /// Whether it is decided which devices have the examples in their memory. That happens before the first round.
    examples_decided: bool,
    augment: Augment,
    /// The number of batches that each worker prefetches; `None` chooses by the number of free cores.
    prefetch: Option<usize>,
    /// The client that joins late, which is the last one; `None` without one.
    late_client: Option<LateClient>,
    on_nan: OnNan,
    faults: Faults,
    /// For each phase, what a client computes and sends in a round. Empty if clients never fail and take no time. It
    /// follows from the program, so a checkpoint does not have it.
    workloads: Vec<Workload>,
    /// The states of the server and of the clients.
    state: State,
    /// The parties at which clients run; `None` if they run in this process.
    parties: Option<Coordinator>,
    /// Rounds up to this one are [skipped](Simulation::skip_until).
    told_until: usize,
    /// The present parameters: one tensor for each leaf of the model.
    params: Vec<DispatchTensor>,
    /// For each parameter, the [hash](parameters::hash) of its values before the first round.
    initial_hashes: Vec<u64>,
    /// The number of examples in a batch of an evaluation.
    evaluation_batch: usize,
    /// The most clients whose personal models are made in one graph. It shrinks if a device runs out of memory.
    personal_group: AtomicUsize,
    /// The largest number of personal models that were in memory at once.
    most_personal_models: AtomicUsize,
    /// The number of completed rounds.
    round: usize,
    /// The number of rounds that were left out because phases ended early.
    left_out_rounds: usize,
    digests: Digests,
}

impl Simulation {
    /// Creates a simulation before its first round. All random choices are drawn from `seed`: the initial parameters,
    /// the cohorts, the order of batches and all others. On a CPU, `threads` clients or groups of clients train at the
    /// same time. Several simulations, such as those of several seeds, may share a program: `Arc<Program>`.
    ///
    /// # Errors
    ///
    /// The system cannot start worker threads, or the model's values cannot be read.
    pub fn new(
        program: impl Into<Arc<Program>>,
        dataset: FederatedDataset,
        seed: u64,
        threads: usize,
    ) -> Result<Self, RunError> {
        let program = program.into();
        let values = initial_values(&program.model().model().leaves(), seed)?;
        let initial_hashes = values.iter().map(|values| hash(values)).collect();
        let params = upload(program.model().parameters(), values, program.device());
        let main_device = TrainingDevice::new(program, CohortBatch::Auto);
        Ok(Self {
            workers: Workers::new(main_device.worker_threads(threads)).map_err(no_thread)?,
            threads,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            batch: CohortBatch::Auto,
            graphs: GraphCapture::default(),
            device_data: DeviceData::default(),
            examples_decided: false,
            augment: Augment::default(),
            prefetch: None,
            late_client: None,
            on_nan: OnNan::default(),
            faults: Faults::default(),
            workloads: vec![],
            main_device,
            extra_devices: vec![],
            initial_hashes,
            params,
            evaluation_batch: BATCH,
            personal_group: AtomicUsize::new(usize::MAX),
            most_personal_models: AtomicUsize::new(0),
            dataset,
            public: None,
            seed,
            secret: None,
            state: State::default(),
            parties: None,
            told_until: 0,
            round: 0,
            left_out_rounds: 0,
            digests: Digests::default(),
        })
    }

    /// How many steps were captured, replayed, or run operation by operation; `None` if capture is off.
    pub fn capture_stats(&self) -> Option<CaptureStats> {
        let mut stats = self
            .devices()
            .filter_map(|device| device.step_cache.as_ref().map(StepCache::stats));
        let first = stats.next()?;
        Some(stats.fold(first, |mut total, stats| {
            total.add(stats);
            total
        }))
    }

    /// The number of the client that joins late, if there is one.
    pub fn late_client(&self) -> Option<usize> {
        self.late_client
            .map(|_| self.dataset.client_indices.len() - 1)
    }

    /// The number of clients after the last complete round: all, or all but the late client.
    pub fn clients(&self) -> usize {
        let all = self.dataset.client_indices.len();
        let (late_client, round) = (self.late_client, self.scheduled(self.round));
        late_client.map_or(all, |late_client| late_client.clients_in_round(round, all))
    }

    /// The largest number of clients that train together in one graph on any device. It shrinks if a device runs out
    /// of memory in a round.
    pub fn cohort_batch(&self) -> usize {
        let groups = self.devices().map(|device| device.group_size);
        groups.fold(1, usize::max)
    }

    /// Runs the next round and returns its statistics.
    ///
    /// # Errors
    ///
    /// See [`RunError`]. After an error, parameters and states are those of the last complete round.
    pub fn run_round(&mut self) -> Result<RoundStats, RunError> {
        self.advance(None)
    }

    /// Runs the next round as [`run_round`](Self::run_round) does, and shows the observer the values of single clients
    /// that the server sees: parameters, features and labels as they are gathered or before they are aggregated, and
    /// rows that the server computes for clients and concatenates.
    ///
    /// # Errors
    ///
    /// As [`run_round`](Self::run_round).
    pub fn run_round_observed(
        &mut self,
        mut observer: impl FnMut(ServerObservation),
    ) -> Result<RoundStats, RunError> {
        self.advance(Some(&mut observer))
    }

    /// Runs the next round. If a device runs out of memory, the round is repeated without the examples in the device's
    /// memory, and then with smaller groups of clients.
    fn advance(&mut self, observer: Option<Observer<'_>>) -> Result<RoundStats, RunError> {
        let mut max_group = self.cohort_batch();
        if observer.is_some() {
            // A repetition would show the observer the same round twice.
            return self.advance_without_failures(max_group, observer);
        }
        let stats = in_smaller_groups(&mut max_group, |max_group| {
            loop {
                let stats = self.advance_without_failures(max_group, None);
                let Err(RunError::Exec(ExecError::OutOfMemory(_))) = stats else {
                    return stats;
                };
                // Without the examples, there may be memory for groups of the same size.
                let retry = self.devices_with_examples() > 0;
                self.devices_mut().for_each(|device| device.free_memory());
                if !retry {
                    return stats;
                }
            }
        });
        self.devices_mut()
            .for_each(|device| device.group_size = device.group_size.min(max_group));
        stats
    }

    /// The number of completed rounds.
    pub fn round(&self) -> usize {
        self.round
    }

    /// The clients' data.
    pub fn dataset(&self) -> &FederatedDataset {
        &self.dataset
    }

    /// The seed of every random choice.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The compiled program.
    pub fn program(&self) -> &Program {
        &self.main_device.program
    }
}

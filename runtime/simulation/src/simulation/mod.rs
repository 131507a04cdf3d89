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
mod server_states;
#[cfg(test)]
mod tests;

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
use crate::faults::{Faults, Work};
use crate::init_parameters;
use crate::late_client::LateClient;
use crate::non_finite::OnNan;
use crate::parties::Remote;
use crate::retry_on_oom::in_smaller_groups;
use crate::round::{Observer, RoundStats, ServerObservation};
use crate::state::State;
use crate::workers::Workers;
use devices::{Site, no_thread};
use fingerprint::Digests;

pub(crate) use checkpoint::SavedState;
pub(crate) use parameters::upload;
pub use personal_difference::PersonalDifference;
pub use server_states::ServerStateError;

/// Runs a [`Program`] over simulated clients.
///
/// Results depend on the program, the dataset, the seed, and the devices: not on the number of
/// threads.
pub struct Simulation {
    /// Where clients train, the server works and models are evaluated.
    pub(crate) home: Site,
    /// Where clients train beside it.
    beside: Vec<Site>,
    dataset: FederatedDataset,
    /// Examples that the server and every client have.
    public: Option<Examples>,
    seed: u64,
    /// Of the noise of differential privacy, where it is not drawn from the seed.
    secret: Option<NoiseKey>,
    workers: Workers,
    /// Of each CPU.
    threads: usize,
    /// Of this machine.
    cores: usize,
    batch: CohortBatch,
    graphs: GraphCapture,
    device_data: DeviceData,
    augment: Augment,
    /// Where it was chosen.
    prefetch: Option<usize>,
    newcomer: Option<LateClient>,
    on_nan: OnNan,
    faults: Faults,
    /// What clients compute and send in each phase, where they may fail. It is derived from the
    /// program, so a checkpoint does not need it.
    works: Vec<Work>,
    state: State,
    /// Where clients are, if not in this process.
    parties: Option<Remote>,
    params: Vec<DispatchTensor>,
    /// What the parameters began as.
    initial: Vec<DispatchTensor>,
    /// Examples in a batch of an evaluation.
    evaluation_batch: usize,
    /// The most that were in memory at once.
    most_personal_models: AtomicUsize,
    round: usize,
    /// Rounds of phases that ended early.
    left_out: usize,
    digests: Digests,
}

impl Simulation {
    /// A simulation before its first round. The initial parameters are drawn from `seed`, and so are
    /// the cohorts, the order of batches and all other random choices. On a CPU, `threads` clients
    /// or groups of clients train at the same time.
    ///
    /// # Errors
    ///
    /// The system gives no worker threads, or the model's values cannot be read.
    pub fn new(
        program: Program,
        dataset: FederatedDataset,
        seed: u64,
        threads: usize,
    ) -> Result<Self, RunError> {
        let values = init_parameters::parameters(&program.model().model().leaves(), seed)?;
        let params = upload(program.model().parameters(), values, program.device());
        let home = Site::new(program, CohortBatch::Auto);
        Ok(Self {
            workers: Workers::new(home.feeding(threads)).map_err(no_thread)?,
            threads,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            batch: CohortBatch::Auto,
            graphs: GraphCapture::default(),
            device_data: DeviceData::default(),
            augment: Augment::default(),
            prefetch: None,
            newcomer: None,
            on_nan: OnNan::default(),
            faults: Faults::default(),
            works: vec![],
            home,
            beside: vec![],
            initial: params.clone(),
            params,
            evaluation_batch: BATCH,
            most_personal_models: AtomicUsize::new(0),
            dataset,
            public: None,
            seed,
            secret: None,
            state: State::default(),
            parties: None,
            round: 0,
            left_out: 0,
            digests: Digests::default(),
        })
    }

    /// How many steps were captured, replayed, or run op by op; `None` if capture is off.
    pub fn capture_stats(&self) -> Option<CaptureStats> {
        let mut stats = self
            .sites()
            .filter_map(|site| site.replays.as_ref().map(StepCache::stats));
        let first = stats.next()?;
        Some(stats.fold(first, |mut all, more| {
            all.add(more);
            all
        }))
    }

    /// The number of the client that joins late, if there is one.
    pub fn late_client(&self) -> Option<usize> {
        self.newcomer.map(|_| self.dataset.client_indices.len() - 1)
    }

    /// The number of clients after the last complete round: all, or all but the late client.
    pub fn clients(&self) -> usize {
        let all = self.dataset.client_indices.len();
        let (newcomer, round) = (self.newcomer, self.scheduled(self.round));
        newcomer.map_or(all, |newcomer| newcomer.there(round, all))
    }

    /// The largest number of clients that train together in one graph on any device. It shrinks if a
    /// round finds a device's memory too small.
    pub fn cohort_batch(&self) -> usize {
        let groups = self.sites().map(|site| site.group);
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

    /// Runs the next round as [`run_round`](Self::run_round) does, and shows the observer what the
    /// server sees of single clients: parameters, features and labels as they are gathered or before
    /// they are aggregated, and rows that the server makes for clients and joins.
    ///
    /// # Errors
    ///
    /// As [`run_round`](Self::run_round).
    pub fn run_round_observed(
        &mut self,
        mut look: impl FnMut(ServerObservation),
    ) -> Result<RoundStats, RunError> {
        self.advance(Some(&mut look))
    }

    fn advance(&mut self, look: Option<Observer<'_>>) -> Result<RoundStats, RunError> {
        let mut most = self.cohort_batch();
        if look.is_some() {
            // Nobody is shown a round twice.
            return self.advance_without_failures(most, look);
        }
        let stats = in_smaller_groups(&mut most, |most| {
            loop {
                let stats = self.advance_without_failures(most, None);
                let Err(RunError::Exec(ExecError::OutOfMemory(_))) = stats else {
                    return stats;
                };
                // Without the examples there may be room for as many clients.
                let again = self.devices_with_examples() > 0;
                self.sites_mut().for_each(|site| site.free());
                if !again {
                    return stats;
                }
            }
        });
        self.sites_mut()
            .for_each(|site| site.group = site.group.min(most));
        stats
    }

    /// Rounds completed.
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
        &self.home.program
    }
}

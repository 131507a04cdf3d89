//! A federation in one process: its rounds.

mod judged;
mod values;

use burn::tensor::DispatchTensor;
use fedround_data::augment::Augment;
use fedround_dsl::Algorithm;
use fedround_passes::tensor::Frontend;
use rayon::ThreadPoolBuildError;

use crate::cohort_batch::CohortBatch;
use crate::device::is_cpu;
use crate::engine::{Cx, Federation, Look, RoundStats, Seen, State, run_round};
use crate::error::{CompileError, RunError};
use crate::init;
use crate::memory::in_smaller_groups;
use crate::personal::personalized;
use crate::program::Program;
use crate::replay::{GraphStats, Graphs, Replays};
use crate::workers::Workers;
use values::upload;

/// Runs a [`Program`] over simulated clients.
///
/// Results depend on the program, the federation and its seed alone: not on the number of threads.
pub struct Simulation {
    program: Program,
    federation: Federation,
    workers: Workers,
    group: usize,
    augment: Augment,
    prefetch: usize,
    /// The recorded steps, where steps are recorded.
    pub(crate) replays: Option<Replays>,
    /// Makes the clients' own models, where they have any.
    personal: Option<Program>,
    state: State,
    params: Vec<DispatchTensor>,
    round: usize,
}

impl Simulation {
    /// Starts from parameters drawn from the federation's seed.
    ///
    /// # Errors
    ///
    /// The system gives no worker threads.
    pub fn new(
        program: Program,
        federation: Federation,
        threads: usize,
    ) -> Result<Self, ThreadPoolBuildError> {
        let values = init::parameters(&program.tracer.model().leaves(), federation.seed);
        let params = upload(program.tracer.parameters(), values, &program.device);
        // A GPU runs one graph at a time, and is fed by one thread.
        let threads = if is_cpu(&program.device) { threads } else { 1 };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            workers: Workers::new(threads)?,
            group: CohortBatch::Auto.clients(&program),
            augment: Augment::default(),
            // Beside workers on all cores, a thread more would but take their time.
            prefetch: usize::from(threads < cores),
            replays: None,
            personal: None,
            params,
            program,
            federation,
            state: State::default(),
            round: 0,
        })
    }

    /// Changes the images of training batches, each time that one is seen; test images go through
    /// the [fixed](Augment::fixed) steps.
    #[must_use]
    pub fn with_augment(mut self, augment: Augment) -> Self {
        self.augment = augment;
        self
    }

    /// Chooses how many batches of each worker may wait for their steps while a thread makes the
    /// next one, where images are decoded or changed; 0 is none and no thread. By default 1 where
    /// there are more cores than workers. Results do not depend on it.
    #[must_use]
    pub fn with_prefetch(mut self, batches: usize) -> Self {
        self.prefetch = batches;
        self
    }

    /// Chooses whether a GPU records the steps of loops over batches and replays them; see
    /// [`graph_stats`](Self::graph_stats). Results stay the same within rounding.
    ///
    /// # Errors
    ///
    /// Steps are required to be replayed on the CPU, which records none.
    pub fn with_graphs(mut self, graphs: Graphs) -> Result<Self, RunError> {
        let cpu = is_cpu(&self.program.device);
        if cpu && graphs == Graphs::Require {
            return Err(RunError::GraphsOnCpu);
        }
        self.replays = (!cpu && graphs != Graphs::Off).then(|| Replays::new(graphs));
        Ok(self)
    }

    /// What became of the steps of loops over batches; `None` where they are not to be replayed.
    pub fn graph_stats(&self) -> Option<GraphStats> {
        self.replays.as_ref().map(Replays::stats)
    }

    /// Has clients tested on models of their own, as the algorithm's slot `personalize` makes them;
    /// `algorithm` is the one that the program was compiled from.
    ///
    /// # Errors
    ///
    /// The slot's code cannot be compiled.
    pub fn with_personal(mut self, algorithm: &dyn Algorithm) -> Result<Self, CompileError> {
        self.personal = personalized(&self.program, algorithm)?;
        Ok(self)
    }

    /// Chooses how many clients run in one graph. Results stay the same within rounding.
    #[must_use]
    pub fn with_cohort_batch(mut self, batch: CohortBatch) -> Self {
        self.group = batch.clients(&self.program);
        self
    }

    /// How many clients run in one graph: fewer than at first where a round found the device's memory
    /// too small.
    pub fn cohort_batch(&self) -> usize {
        self.group
    }

    /// Runs the next round and gives its statistics.
    ///
    /// # Errors
    ///
    /// See [`RunError`]. The parameters are those of the last complete round.
    pub fn step(&mut self) -> Result<RoundStats, RunError> {
        self.advance(None)
    }

    /// Runs the next round as [`step`](Self::step), and shows what the server sees of single
    /// clients: parameters, features and labels as they are gathered, or before they are reduced,
    /// and rows that the server makes for clients and joins. Results are those of `step`.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    pub fn step_seen(&mut self, mut look: impl FnMut(Seen)) -> Result<RoundStats, RunError> {
        self.advance(Some(&mut look))
    }

    fn advance(&mut self, look: Option<Look<'_>>) -> Result<RoundStats, RunError> {
        if look.is_some() {
            // Nobody is shown a round twice.
            return self.advance_in(self.group, look);
        }
        let mut group = self.group;
        let stats = in_smaller_groups(&mut group, |group| self.advance_in(group, None));
        self.group = group;
        stats
    }

    /// Runs the next round with up to `group` clients in one graph; one that fails leaves everything
    /// as it was.
    fn advance_in(&mut self, group: usize, look: Option<Look<'_>>) -> Result<RoundStats, RunError> {
        let round = self.round + 1;
        let params = self.params.clone();
        let server = self.state.server.clone();
        let cx = Cx {
            program: self.program.at(round),
            federation: &self.federation,
            augment: &self.augment,
            prefetch: self.prefetch,
            replays: self.replays.as_ref(),
            round,
        };
        // Borrowed for as long as this function's own values.
        let look = look.map(|look| look as Look<'_>);
        match run_round(cx, &self.workers, group, &mut self.state, params, look) {
            Ok((next, stats)) => {
                self.state.commit();
                (self.params, self.round) = (next, round);
                Ok(stats)
            }
            Err(error) => {
                self.state.undo(server);
                Err(error)
            }
        }
    }

    /// Rounds completed.
    pub fn round(&self) -> usize {
        self.round
    }

    /// The clients' data, and the seed.
    pub fn federation(&self) -> &Federation {
        &self.federation
    }

    /// The compiled program.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

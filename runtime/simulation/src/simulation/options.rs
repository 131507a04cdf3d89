//! How a simulation runs: what is chosen before its first round.

use fedround_data::Examples;
use fedround_data::augment::Augment;
use fedround_dsl::Algorithm;
use fedround_exec::{CompileError, GraphCapture};
use fedround_random::NoiseKey;

use super::Simulation;
use crate::cohort_batch::CohortBatch;
use crate::device_data::DeviceData;
use crate::error::RunError;
use crate::evaluation::personal_models::evaluations;
use crate::late_client::LateClient;
use crate::non_finite::OnNan;

impl Simulation {
    /// Draws the noise of differential privacy from the system's generator instead of the seed. It is then
    /// another one in each simulation, and whoever knows the seed cannot take it away. Without this call a
    /// run is an experiment that can be repeated, and keeps nothing private. The secret is never written: a
    /// simulation that continues another one has one of its own.
    ///
    /// # Errors
    ///
    /// The system gives no random bytes.
    pub fn with_system_noise(mut self) -> Result<Self, RunError> {
        self.secret = Some(NoiseKey::from_system()?);
        Ok(self)
    }

    /// Gives the server and every client these examples, which algorithms read by `public`. They have the
    /// columns of the clients' examples.
    #[must_use]
    pub fn with_public(mut self, examples: Examples) -> Self {
        self.public = Some(examples);
        self
    }

    /// Augments the images of training batches, anew each time that an image is used. Test images go
    /// through the [fixed](Augment::fixed) steps only.
    #[must_use]
    pub fn with_augment(mut self, augment: Augment) -> Self {
        self.augment = augment;
        self
    }

    /// Sets how many batches each worker prefetches, on a thread of its own, if images are decoded or
    /// augmented; 0 turns prefetching off. The default is 1 if there are more cores than workers.
    /// Results do not depend on it.
    #[must_use]
    pub fn with_prefetch(mut self, batches: usize) -> Self {
        self.prefetch = Some(batches);
        self
    }

    /// Chooses whether the steps of loops over batches are captured on a GPU and replayed. The default
    /// is [`GraphCapture::Auto`]: on CUDA they are. Results stay the same within rounding error;
    /// [`capture_stats`](Self::capture_stats) counts replays.
    ///
    /// # Errors
    ///
    /// Capture is required and a device is the CPU, which has none.
    pub fn with_graph_capture(mut self, graphs: GraphCapture) -> Result<Self, RunError> {
        self.graphs = graphs;
        self.sites_mut().try_for_each(|site| site.record(graphs))?;
        Ok(self)
    }

    /// Chooses how much of a GPU's memory the clients' examples may take. If they fit, batches are gathered
    /// on the GPU. Results do not depend on it.
    #[must_use]
    pub fn with_device_data(mut self, data: DeviceData) -> Self {
        self.device_data = data;
        self
    }

    /// Makes personal models by the algorithm's hooks `evaluate` and `personalize`, on which the clients can be
    /// tested.
    /// `algorithm` is the one that the program was compiled from.
    ///
    /// # Errors
    ///
    /// The hook's code cannot be compiled.
    pub fn with_personal(mut self, algorithm: &dyn Algorithm) -> Result<Self, CompileError> {
        let all = evaluations(&self.home.program, algorithm)?;
        for site in &mut self.beside {
            let own = all.iter().map(|own| own.on(site.program.device()));
            site.evaluations = own.collect();
        }
        self.home.evaluations = all;
        Ok(self)
    }

    /// Lets the last client join late; see [`LateClient`].
    ///
    /// # Errors
    ///
    /// There are fewer than two clients.
    pub fn with_late_client(mut self, newcomer: Option<LateClient>) -> Result<Self, RunError> {
        let clients = self.dataset.client_indices.len();
        if newcomer.is_some() && clients < 2 {
            return Err(RunError::NobodyElse { clients });
        }
        self.newcomer = newcomer;
        Ok(self)
    }

    /// Chooses what becomes of a round in which clients' updates are not finite.
    #[must_use]
    pub fn with_on_nan(mut self, choice: OnNan) -> Self {
        self.on_nan = choice;
        self
    }

    /// Chooses how many clients train together in one graph. Results stay the same within rounding
    /// error.
    #[must_use]
    pub fn with_cohort_batch(mut self, batch: CohortBatch) -> Self {
        self.batch = batch;
        self.sites_mut()
            .for_each(|site| site.group = batch.clients(&site.program));
        self
    }
}

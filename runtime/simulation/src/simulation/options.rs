//! The options of a simulation, which are chosen before its first round.

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
    /// Draws the noise of differential privacy from the system's random generator instead of the seed. The noise then
    /// differs in each simulation, and nobody who knows the seed can subtract it. Without this call a run can be
    /// repeated, but keeps nothing private. The secret is never written to disk: a simulation that continues another
    /// one has a secret of its own.
    ///
    /// # Errors
    ///
    /// The system provides no random bytes.
    pub fn with_system_noise(mut self) -> Result<Self, RunError> {
        self.secret = Some(NoiseKey::from_system()?);
        Ok(self)
    }

    /// Replaces the secret of the noise by a fresh one, if there is one.
    ///
    /// # Errors
    ///
    /// As [`with_system_noise`](Self::with_system_noise).
    pub(crate) fn renew_secret(&mut self) -> Result<(), RunError> {
        if self.secret.is_some() {
            self.secret = Some(NoiseKey::from_system()?);
        }
        Ok(())
    }

    /// Gives these examples to the server and to every client. Algorithms read them by `public`. They have the same
    /// columns as the clients' examples.
    #[must_use]
    pub fn with_public(mut self, examples: Examples) -> Self {
        self.public = Some(examples);
        self
    }

    /// Augments the images of training batches, with new random choices each time that an image is used. Test images
    /// go through the [fixed](Augment::fixed) steps only.
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
        self.devices_mut()
            .try_for_each(|device| device.set_graph_capture(graphs))?;
        Ok(self)
    }

    /// Chooses how much of a GPU's memory the clients' examples may take. If they fit, batches are gathered
    /// on the GPU. Results do not depend on it.
    #[must_use]
    pub fn with_device_data(mut self, data: DeviceData) -> Self {
        self.device_data = data;
        self
    }

    /// Lets clients have personal models, which the algorithm's hooks `evaluate` and `personalize` make of the global
    /// model. `algorithm` is the one from which the program was compiled.
    ///
    /// # Errors
    ///
    /// The hook's code cannot be compiled.
    pub fn with_personal(mut self, algorithm: &dyn Algorithm) -> Result<Self, CompileError> {
        let all = evaluations(&self.main_device.program, algorithm)?;
        for device in &mut self.extra_devices {
            let target = device.program.device();
            let evaluations = all.iter().map(|evaluation| evaluation.for_device(target));
            device.evaluations = evaluations.collect();
        }
        self.main_device.evaluations = all;
        Ok(self)
    }

    /// Lets the last client join late; see [`LateClient`].
    ///
    /// # Errors
    ///
    /// There are fewer than two clients.
    pub fn with_late_client(mut self, late_client: Option<LateClient>) -> Result<Self, RunError> {
        let clients = self.dataset.client_indices.len();
        if late_client.is_some() && clients < 2 {
            return Err(RunError::NobodyElse { clients });
        }
        self.late_client = late_client;
        Ok(self)
    }

    /// Chooses what happens in a round in which clients' updates are not finite.
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
        self.devices_mut()
            .for_each(|device| device.group_size = batch.clients(&device.program));
        self
    }
}

//! The clients' own models beside the server's, as a run keeps them.

use fedround_simulation::{PersonalModels, RunError, Simulation};

use super::{OwnTensors, Parameters};

/// The clients' own models and the server's, after a round.
pub struct ClientModels<'s> {
    simulation: &'s Simulation,
    models: PersonalModels,
    server: Parameters,
    by_clients: Vec<bool>,
}

impl<'s> ClientModels<'s> {
    /// Those of the last complete round; `None` where the algorithm personalises nothing.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn of(simulation: &'s Simulation) -> Result<Option<Self>, RunError> {
        let Some(models) = simulation.personal_models()? else {
            return Ok(None);
        };
        Ok(Some(Self {
            by_clients: simulation.trained_by_clients_alone(&models)?,
            server: simulation.parameters()?,
            models,
            simulation,
        }))
    }

    /// Which parameters only clients train, in the model's order; the server's values of them are no
    /// result of the training.
    pub fn by_clients(&self) -> &[bool] {
        &self.by_clients
    }

    /// What a client has of its own, in the model's order.
    ///
    /// # Errors
    ///
    /// The device that holds it has failed.
    pub fn own(&self, client: usize) -> Result<Parameters, RunError> {
        let model = self.simulation.personal_parameters(&self.models, client)?;
        let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let leaves = model.into_iter().flatten().zip(&self.server);
        let own = leaves
            .zip(&self.by_clients)
            .filter(|((own, server), by)| **by || bits(&own.2) != bits(&server.2));
        Ok(own.map(|((own, _), _)| own).collect())
    }

    /// What all clients have of their own.
    ///
    /// # Errors
    ///
    /// As [`own`](Self::own).
    pub fn all(&self) -> Result<OwnTensors, RunError> {
        let mut all = OwnTensors::new();
        for client in 0..self.simulation.clients() {
            let own = self.own(client)?;
            if !own.is_empty() {
                all.insert(client, own);
            }
        }
        Ok(all)
    }
}

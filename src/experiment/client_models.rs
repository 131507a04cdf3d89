//! The clients' own models beside the server's, as a run keeps them.

use fedround_simulation::{RunError, Simulation};

use super::{OwnTensors, Parameters};

/// The clients' own models and the server's, after a round. Clients' models are made a few at a time.
pub struct ClientModels<'s> {
    simulation: &'s Simulation,
    server: Parameters,
    by_clients: Vec<bool>,
}

impl<'s> ClientModels<'s> {
    /// The clients' models after the last complete round; `None` where the algorithm personalises nothing.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn of(simulation: &'s Simulation) -> Result<Option<Self>, RunError> {
        if !simulation.has_personal_models() {
            return Ok(None);
        }
        let mut difference = simulation.personal_difference()?;
        simulation.visit_personal_models(|models| difference.add(models))?;
        Ok(Some(Self {
            by_clients: difference.by_clients().to_vec(),
            server: simulation.parameters()?,
            simulation,
        }))
    }

    /// Which parameters only clients train, in the model's order; the server's values of them are no
    /// result of the training.
    pub fn by_clients(&self) -> &[bool] {
        &self.by_clients
    }

    /// Shows `visit` each client's number with what it has of its own, in the model's order. Clients that
    /// have nothing of their own are left out. The order of clients is not that of their numbers.
    ///
    /// # Errors
    ///
    /// See [`RunError`]; or the first error of `visit`.
    pub fn each<E: From<RunError>>(
        &self,
        mut visit: impl FnMut(usize, Parameters) -> Result<(), E>,
    ) -> Result<(), E> {
        self.simulation.visit_personal_models(|models| {
            for client in models.clients() {
                let model = self.simulation.personal_parameters(models, client)?;
                let own = self.own(model.unwrap_or_default());
                if !own.is_empty() {
                    visit(client, own)?;
                }
            }
            Ok(())
        })
    }

    /// The tensors of a client's model that differ from the server's, and those that only clients train.
    fn own(&self, model: Parameters) -> Parameters {
        let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let leaves = model.into_iter().zip(&self.server);
        let own = leaves
            .zip(&self.by_clients)
            .filter(|((own, server), by)| **by || bits(&own.2) != bits(&server.2));
        own.map(|((own, _), _)| own).collect()
    }

    /// What all clients have of their own, in memory at once.
    ///
    /// # Errors
    ///
    /// As [`each`](Self::each).
    pub fn all(&self) -> Result<OwnTensors, RunError> {
        let mut all = OwnTensors::new();
        self.each(|client, own| {
            all.insert(client, own);
            Ok::<_, RunError>(())
        })?;
        Ok(all)
    }
}

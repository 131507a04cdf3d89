//! Compares clients' personal models with the server's.

use super::Simulation;
use super::parameters::bits;
use crate::error::RunError;
use crate::evaluation::personal_models::PersonalModels;

/// How clients' models differ from the server's, found from a few models at a time.
pub struct PersonalDifference {
    server: Vec<Vec<u32>>,
    /// Whether the server's values are what they began as.
    initial: Vec<bool>,
    by_clients: Vec<bool>,
    any: bool,
}

impl PersonalDifference {
    /// Takes more models in.
    ///
    /// # Errors
    ///
    /// The device that holds them has failed.
    pub fn add(&mut self, models: &PersonalModels) -> Result<(), RunError> {
        for model in models.all() {
            for (i, (own, server)) in model.iter().zip(&self.server).enumerate() {
                let open = !self.any || (self.initial[i] && !self.by_clients[i]);
                if open && bits(own)? != *server {
                    self.any = true;
                    self.by_clients[i] = self.initial[i];
                }
            }
        }
        Ok(())
    }

    /// Which parameters only clients train, as LG-FedAvg's clients their features: on the server they are
    /// what they began as, and in a client's model they are not. Such values of the server are no result
    /// of the training. In the model's order.
    pub fn by_clients(&self) -> &[bool] {
        &self.by_clients
    }

    /// Whether a client's model is another than the server's.
    pub fn any(&self) -> bool {
        self.any
    }
}

impl Simulation {
    /// The difference of no model from the server's, to which clients' models are
    /// [added](PersonalDifference::add).
    ///
    /// # Errors
    ///
    /// The device that holds the parameters has failed.
    pub fn personal_difference(&self) -> Result<PersonalDifference, RunError> {
        let all = |leaves: &[_]| leaves.iter().map(bits).collect::<Result<Vec<_>, _>>();
        let (server, initial) = (all(&self.params)?, all(&self.initial)?);
        let pairs = initial.iter().zip(&server);
        Ok(PersonalDifference {
            initial: pairs.map(|(initial, now)| initial == now).collect(),
            by_clients: vec![false; server.len()],
            any: false,
            server,
        })
    }
}

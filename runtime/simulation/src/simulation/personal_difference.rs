//! Compares clients' personal models with the server's model.

use super::Simulation;
use super::parameters::bits;
use crate::error::RunError;
use crate::evaluation::personal_models::PersonalModels;

/// How clients' personal models differ from the server's model. Models are added a few at a time.
pub struct PersonalDifference {
    /// The bits of the server's parameters, leaf by leaf.
    server: Vec<Vec<u32>>,
    /// For each leaf, whether the server's still has its initial values.
    is_initial: Vec<bool>,
    /// See [`by_clients`](Self::by_clients).
    by_clients: Vec<bool>,
    /// Whether any client's model differs from the server's.
    any: bool,
}

impl PersonalDifference {
    /// Compares more models.
    ///
    /// # Errors
    ///
    /// The device that holds them has failed.
    pub fn add(&mut self, models: &PersonalModels) -> Result<(), RunError> {
        for model in models.all() {
            for (i, (leaf, server)) in model.iter().zip(&self.server).enumerate() {
                let is_undecided = !self.any || (self.is_initial[i] && !self.by_clients[i]);
                if is_undecided && bits(leaf)? != *server {
                    self.any = true;
                    self.by_clients[i] = self.is_initial[i];
                }
            }
        }
        Ok(())
    }

    /// For each parameter, in the model's order, whether only clients train it, such as the features in LG-FedAvg: on
    /// the server it still has its initial value, and in a client's model another one. The server's value of such a
    /// parameter is not a result of training.
    pub fn by_clients(&self) -> &[bool] {
        &self.by_clients
    }

    /// Whether any client's model differs from the server's.
    pub fn any(&self) -> bool {
        self.any
    }
}

impl Simulation {
    /// Starts a comparison with the server's model, to which clients' models are [added](PersonalDifference::add).
    ///
    /// # Errors
    ///
    /// The device that holds the parameters has failed.
    pub fn personal_difference(&self) -> Result<PersonalDifference, RunError> {
        let server: Vec<Vec<u32>> = self.params.iter().map(bits).collect::<Result<_, _>>()?;
        Ok(PersonalDifference {
            is_initial: self.unchanged_parameters()?,
            by_clients: vec![false; server.len()],
            any: false,
            server,
        })
    }
}

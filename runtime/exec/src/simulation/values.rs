//! Parameters and states as values.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_ir::tensor::TensorType;
use fedround_passes::lowering::Frontend;

use super::Simulation;
use crate::ops;
use crate::personal::PersonalModels;

impl Simulation {
    /// Names, types and values of the current parameters, in the model's order.
    pub fn parameters(&self) -> Vec<(String, TensorType, Vec<f32>)> {
        self.named(&self.params)
    }

    /// The same of a client's own model; `None` for a client that there is not.
    pub fn personal_parameters(
        &self,
        models: &PersonalModels,
        client: usize,
    ) -> Option<Vec<(String, TensorType, Vec<f32>)>> {
        models.of(client).map(|params| self.named(params))
    }

    fn named(&self, params: &[DispatchTensor]) -> Vec<(String, TensorType, Vec<f32>)> {
        let leaves = self.program().tracer.parameters().iter();
        leaves
            .zip(params)
            .map(|((name, ty), t)| (name.clone(), ty.clone(), ops::values(t.clone())))
            .collect()
    }

    /// What the server keeps under a state's full name, `LAYER.NAME` as in the program's text: the
    /// values of each tensor. `None` before it is first set.
    pub fn server_state(&self, name: &str) -> Option<Vec<Vec<f32>>> {
        self.state.server.get(name).map(|kept| values(kept))
    }

    /// What a client keeps, as [`server_state`](Self::server_state).
    pub fn client_state(&self, client: usize, name: &str) -> Option<Vec<Vec<f32>>> {
        let key = (client, name.to_owned());
        self.state.clients.get(&key).map(|kept| values(kept))
    }

    /// What the server keeps for a client, as [`server_state`](Self::server_state).
    pub fn server_state_for(&self, client: usize, name: &str) -> Option<Vec<Vec<f32>>> {
        let key = (client, name.to_owned());
        self.state.for_clients.get(&key).map(|kept| values(kept))
    }

    /// Replaces the current parameters by values in the model's order; `false`, and nothing
    /// changes, if their sizes do not fit.
    #[must_use]
    pub fn set_parameters(&mut self, values: Vec<Vec<f32>>) -> bool {
        let program = &self.home.program;
        let leaves = program.tracer.parameters();
        let fits = leaves.len() == values.len()
            && leaves
                .iter()
                .zip(&values)
                .all(|((_, ty), v)| ty.len() == v.len());
        if fits {
            self.params = upload(leaves, values, &program.device);
        }
        fits
    }

    /// Euclidean norm of the current parameters.
    pub fn params_l2(&self) -> f64 {
        let square = |x: f32| f64::from(x) * f64::from(x);
        let leaf = |t: &DispatchTensor| ops::values(t.clone()).into_iter().map(square).sum::<f64>();
        self.params.iter().map(leaf).sum::<f64>().sqrt()
    }
}

fn values(tensors: &[DispatchTensor]) -> Vec<Vec<f32>> {
    tensors.iter().map(|t| ops::values(t.clone())).collect()
}

/// Tensors of these types and values.
pub(super) fn upload(
    leaves: &[(String, TensorType)],
    values: Vec<Vec<f32>>,
    device: &DispatchDevice,
) -> Vec<DispatchTensor> {
    let pairs = leaves.iter().zip(values);
    pairs
        .map(|((_, ty), v)| ops::tensor(v, &ty.shape, device))
        .collect()
}

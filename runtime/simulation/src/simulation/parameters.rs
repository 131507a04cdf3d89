//! Reads and replaces the parameters and states of a simulation.

use std::hash::{DefaultHasher, Hasher};

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use fedround_exec::device::with_gpu_access;
use fedround_exec::tensor::{dtype, from_floats, read, read_all, read_ints};
use fedround_ir::tensor::{DType, TensorType};
use fedround_models::{LoadReport, Weights, WeightsError, little_endian};
use fedround_passes::lowering::Frontend;

use super::Simulation;
use crate::error::RunError;
use crate::evaluation::personal_models::PersonalModels;

/// Name, type and values of a tensor.
pub type NamedTensor = (String, TensorType, Vec<f32>);

impl Simulation {
    /// Names, types and values of the current parameters, in the model's order.
    ///
    /// # Errors
    ///
    /// The device that holds them has failed.
    pub fn parameters(&self) -> Result<Vec<NamedTensor>, RunError> {
        self.named(&self.params)
    }

    /// Names, types and values of the parameters of a client's personal model; `None` if `models` does not have it.
    ///
    /// # Errors
    ///
    /// The device that holds them has failed.
    pub fn personal_parameters(
        &self,
        models: &PersonalModels,
        client: usize,
    ) -> Result<Option<Vec<NamedTensor>>, RunError> {
        let params = models.of(client);
        params.map(|params| self.named(params)).transpose()
    }

    fn named(&self, params: &[DispatchTensor]) -> Result<Vec<NamedTensor>, RunError> {
        let leaves = self.program().model().parameters().iter();
        leaves
            .zip(params)
            .map(|((name, ty), t)| Ok((name.clone(), ty.clone(), read(t.clone())?)))
            .collect()
    }

    /// The values of each tensor of a state of the server. The name is the full one, `LAYER.NAME` as in the program's
    /// text. Labels are given as numbers. `None` before the state is first set.
    ///
    /// # Errors
    ///
    /// The device that holds it has failed.
    pub fn server_state(&self, name: &str) -> Result<Option<Vec<Vec<f32>>>, RunError> {
        values(self.state.server.get(name))
    }

    /// A state of a client, as [`server_state`](Self::server_state).
    ///
    /// # Errors
    ///
    /// As [`server_state`](Self::server_state); or the file of clients' states cannot be read.
    pub fn client_state(
        &self,
        client: usize,
        name: &str,
    ) -> Result<Option<Vec<Vec<f32>>>, RunError> {
        values(self.state.clients.get(&(client, name.to_owned()))?.as_ref())
    }

    /// A state that the server keeps for a client, as [`server_state`](Self::server_state).
    ///
    /// # Errors
    ///
    /// As [`server_state`](Self::server_state); or the file of clients' states cannot be read.
    pub fn server_state_for(
        &self,
        client: usize,
        name: &str,
    ) -> Result<Option<Vec<Vec<f32>>>, RunError> {
        values(
            self.state
                .for_clients
                .get(&(client, name.to_owned()))?
                .as_ref(),
        )
    }

    /// Replaces the current parameters by values in the model's order. Returns `false`, and changes nothing, if their
    /// sizes do not fit.
    #[must_use]
    pub fn set_parameters(&mut self, values: Vec<Vec<f32>>) -> bool {
        let program = &self.main_device.program;
        let leaves = program.model().parameters();
        let fits = leaves.len() == values.len()
            && leaves
                .iter()
                .zip(&values)
                .all(|((_, ty), v)| ty.len() == v.len());
        if fits {
            self.params = upload(leaves, values, program.device());
        }
        fits
    }

    /// Replaces the current parameters by those in a file, and returns which ones the file had. Before the first round
    /// they also become the initial parameters, from which personal parts of clients start.
    ///
    /// # Errors
    ///
    /// The file has no tensor of the model, or tensors of other shapes. Nothing changes then. See
    /// [`Weights::fit`].
    pub fn load_weights(&mut self, weights: &Weights) -> Result<LoadReport, WeightsError> {
        let program = &self.main_device.program;
        let fitted = weights.fit(&program.model().model().leaves())?;
        let leaves = program.model().parameters().iter().zip(fitted.values);
        with_gpu_access(|| {
            for (i, ((_, ty), values)) in leaves.enumerate() {
                let Some(values) = values else { continue };
                if self.round == 0 {
                    self.initial_hashes[i] = hash(&values);
                }
                self.params[i] = from_floats(values, &ty.shape, program.device());
            }
        });
        Ok(fitted.report)
    }

    /// Euclidean norm of the current parameters.
    ///
    /// # Errors
    ///
    /// The device that holds them has failed.
    pub fn params_l2(&self) -> Result<f64, RunError> {
        let square = |x: f32| f64::from(x) * f64::from(x);
        let leaves = read_all(self.params.clone())?.into_iter();
        let squares = leaves.map(|leaf| leaf.into_iter().map(square).sum::<f64>());
        Ok(squares.sum::<f64>().sqrt())
    }
}

/// The bits of a tensor's elements. Compared as bits, NaN equals NaN.
pub(super) fn bits(tensor: &DispatchTensor) -> Result<Vec<u32>, RunError> {
    let values = read(tensor.clone())?.into_iter();
    Ok(values.map(f32::to_bits).collect())
}

/// A hash of a parameter's values. Equal bits have equal hashes, so that NaN equals NaN.
pub(super) fn hash(values: &[f32]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&little_endian(values));
    hasher.finish()
}

/// The values of a state's tensors. They are all floats, or all integers if the state is labels.
fn values(state: Option<&Vec<DispatchTensor>>) -> Result<Option<Vec<Vec<f32>>>, RunError> {
    let Some(tensors) = state else {
        return Ok(None);
    };
    if tensors.iter().all(|t| dtype(t) == DType::F32) {
        return Ok(Some(read_all(tensors.clone())?));
    }
    let ints = tensors.iter().map(|t| {
        let values = read_ints(t.clone())?.into_iter();
        Ok(values.map(|x| x as f32).collect())
    });
    ints.collect::<Result<_, RunError>>().map(Some)
}

/// Tensors of the model's leaves on a device, from their values.
pub(crate) fn upload(
    leaves: &[(String, TensorType)],
    values: Vec<Vec<f32>>,
    device: &DispatchDevice,
) -> Vec<DispatchTensor> {
    let pairs = leaves.iter().zip(values);
    let tensors = pairs.map(|((_, ty), v)| from_floats(v, &ty.shape, device));
    with_gpu_access(|| tensors.collect())
}

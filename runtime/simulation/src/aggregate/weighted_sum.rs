//! Weighted sums of clients' tensors.
//!
//! Clients are added in a fixed order, which the cohort and the devices determine, whichever finishes first, so that
//! rounding does not depend on timing. Tensors in host memory are summed in `f64`, and tensors on a GPU are summed
//! there in `f32`.

use burn::tensor::DispatchTensor;
use burn_backend::ops::FloatTensorOps;
use burn_backend::{Scalar, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_exec::tensor::{floats, from_floats, is_host, read, read_all, transfer};
use fedround_kernels::{add_weighted, scale_sums};
use rayon::prelude::*;

use crate::error::RunError;
use crate::value::RuntimeValue;

/// The number of elements in one parallel task.
const BLOCK: usize = 16 * 1024;

/// `Σ_k weight_k · x_k`, summed in the order in which values are added. It takes the memory of one value on each
/// device, however many are added.
#[derive(Default)]
pub(crate) struct WeightedSum {
    /// The sums of tensors in host memory, leaf by leaf. Empty if all tensors are on GPUs.
    host: Vec<Vec<f64>>,
    /// For each GPU, the sums of its tensors, which stay there until the end.
    gpus: Vec<(DispatchDevice, Vec<DispatchTensor>)>,
}

/// The weight of a client's value, or another number of a client.
#[derive(Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "with GPUs built in a tensor's handle is large; few of these live at a time"
)]
pub(crate) enum Weight {
    /// In host memory.
    Known(f64),
    /// A tensor of one element on a GPU, which is not read yet.
    Tensor(DispatchTensor),
}

impl WeightedSum {
    /// Adds the tensors of one client, which are all on one device.
    pub fn add(&mut self, weight: &Weight, leaves: &[DispatchTensor]) -> Result<(), RunError> {
        let Some(first) = leaves.first() else {
            return Ok(());
        };
        if is_host(first) {
            let weight = weight.number()?;
            self.host.resize_with(leaves.len(), Vec::new);
            for (sum, leaf) in self.host.iter_mut().zip(leaves) {
                match floats(leaf) {
                    Some(values) => add(sum, weight, values),
                    None => add(sum, weight, &read(leaf.clone())?),
                }
            }
            return Ok(());
        }
        let weighted = leaves.iter().map(|leaf| weight.times(leaf.clone()));
        let weighted = weighted.collect::<Result<Vec<_>, _>>()?;
        let device = first.device();
        match self.gpus.iter_mut().find(|(known, _)| *known == device) {
            Some((_, sums)) => {
                let before = std::mem::take(sums).into_iter().zip(weighted);
                *sums = before.map(|(sum, x)| Dispatch::float_add(sum, x)).collect();
            }
            None => self.gpus.push((device, weighted)),
        }
        Ok(())
    }

    /// Adds sums over several clients.
    pub fn add_sums(&mut self, leaves: &[Vec<f64>]) {
        self.host.resize_with(leaves.len(), Vec::new);
        for (sum, leaf) in self.host.iter_mut().zip(leaves) {
            sum.resize(leaf.len(), 0.0);
            sum.iter_mut().zip(leaf).for_each(|(s, x)| *s += x);
        }
    }

    /// Ends the sum, and returns it in host memory.
    pub fn into_sums(mut self) -> Result<Vec<Vec<f64>>, RunError> {
        self.read_gpus()?;
        Ok(self.host)
    }

    /// Reads the sums of GPUs, and adds them to those in host memory.
    fn read_gpus(&mut self) -> Result<(), RunError> {
        for (_, sums) in std::mem::take(&mut self.gpus) {
            self.host.resize_with(sums.len(), Vec::new);
            for (sum, values) in self.host.iter_mut().zip(read_all(sums)?) {
                add(sum, 1.0, &values);
            }
        }
        Ok(())
    }

    /// Ends the sum, and returns it multiplied by `scale`, in the given shapes, on a device. If all tensors are on that
    /// device, the host reads nothing.
    pub fn finish<'a>(
        mut self,
        scale: f64,
        shapes: impl Iterator<Item = &'a [usize]>,
        device: &DispatchDevice,
    ) -> Result<Vec<DispatchTensor>, RunError> {
        if let (true, [(own, sums)]) = (self.host.is_empty(), &mut self.gpus[..])
            && own == device
        {
            let sums = std::mem::take(sums).into_iter();
            let scaled = sums.map(|sum| Dispatch::float_mul_scalar(sum, Scalar::Float(scale)));
            return Ok(scaled.collect());
        }
        self.read_gpus()?;
        let leaves = self.host.into_iter().zip(shapes);
        let tensors =
            leaves.map(|(sum, shape)| from_floats(scale_sums(&sum, scale), shape, device));
        Ok(tensors.collect())
    }
}

impl Weight {
    /// The weight of a scalar value; NaN for any other value. A tensor in host memory is read at once.
    pub fn of_scalar(value: &RuntimeValue) -> Self {
        match value {
            RuntimeValue::Number(c) => Self::Known(*c),
            RuntimeValue::Tensor(t) => match floats(t) {
                Some(values) => Self::Known(first(values)),
                None => Self::Tensor(t.clone()),
            },
            _ => Self::Known(f64::NAN),
        }
    }

    /// Weights as numbers. Those on GPUs are read together.
    pub fn numbers(all: &[Self]) -> Result<Vec<f64>, RunError> {
        let tensors = all.iter().filter_map(|weight| match weight {
            Self::Known(_) => None,
            Self::Tensor(t) => Some(t.clone()),
        });
        let mut read = read_all(tensors.collect())?.into_iter();
        let numbers = all.iter().map(|weight| match weight {
            Self::Known(weight) => *weight,
            Self::Tensor(_) => first(&read.next().unwrap_or_default()),
        });
        Ok(numbers.collect())
    }

    /// The weight as a number.
    pub fn number(&self) -> Result<f64, RunError> {
        match self {
            Self::Known(weight) => Ok(*weight),
            Self::Tensor(t) => Ok(first(&read(t.clone())?)),
        }
    }

    /// Multiplies a tensor on a GPU by the weight.
    fn times(&self, leaf: DispatchTensor) -> Result<DispatchTensor, RunError> {
        Ok(match self {
            Self::Known(weight) => Dispatch::float_mul_scalar(leaf, Scalar::Float(*weight)),
            Self::Tensor(weight) => {
                let ones = vec![1; leaf.shape().num_dims()];
                let weight = transfer(weight.clone(), &leaf.device())?;
                let weight = Dispatch::float_reshape(weight, ones.into());
                Dispatch::float_mul(leaf, weight)
            }
        })
    }
}

/// The first number; NaN if there is none.
fn first(values: &[f32]) -> f64 {
    values.first().map_or(f64::NAN, |x| f64::from(*x))
}

/// Adds `weight · values` to a sum.
fn add(sum: &mut Vec<f64>, weight: f64, values: &[f32]) {
    sum.resize(values.len(), 0.0);
    let block = |(sum, values): (&mut [f64], &[f32])| add_weighted(sum, weight, values);
    if values.len() > 4 * BLOCK {
        let blocks = sum.par_chunks_mut(BLOCK).zip(values.par_chunks(BLOCK));
        blocks.for_each(block);
    } else {
        block((sum, values));
    }
}

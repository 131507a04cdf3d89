//! Weighted sums of clients' tensors.
//!
//! The clients are added in the order of the cohort, whoever finishes first, so that rounding does
//! not depend on timing. Tensors in host memory are summed in `f64`, those of a GPU on the GPU in
//! `f32`.

use burn::tensor::DispatchTensor;
use burn_backend::ops::FloatTensorOps;
use burn_backend::{Scalar, TensorMetadata};
use burn_dispatch::{Dispatch, DispatchDevice};
use fedround_exec::tensor::{floats, from_floats, is_host, read, read_all, transfer};
use fedround_kernels::{add_weighted, scale_sums};
use rayon::prelude::*;

use crate::error::RunError;
use crate::value::RtVal;

/// Elements summed by one task.
const BLOCK: usize = 16 * 1024;

/// `Σ_k weight_k · x_k`, accumulated in the order in which they are added, so that the result depends
/// neither on threads nor on who finished first. As large as one value on each device, however many
/// are added.
#[derive(Default)]
pub(crate) struct WeightedSum {
    /// Of tensors in host memory, in `f64`.
    host: Vec<Vec<f64>>,
    /// Of those of each GPU, there, in `f32`: nothing is read before the end.
    gpus: Vec<(DispatchDevice, Vec<DispatchTensor>)>,
}

/// What a client's value is multiplied by.
#[derive(Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "with GPUs built in a tensor's handle is large; few of these live at a time"
)]
pub(crate) enum Weight {
    Known(f64),
    /// Of one element.
    Tensor(DispatchTensor),
}

impl WeightedSum {
    /// Adds the tensors of one client, all on one device.
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

    /// Adds the sums of other clients.
    pub fn add_sums(&mut self, leaves: &[Vec<f64>]) {
        self.host.resize_with(leaves.len(), Vec::new);
        for (sum, leaf) in self.host.iter_mut().zip(leaves) {
            sum.resize(leaf.len(), 0.0);
            sum.iter_mut().zip(leaf).for_each(|(s, x)| *s += x);
        }
    }

    /// The sums in host memory.
    pub fn into_sums(mut self) -> Result<Vec<Vec<f64>>, RunError> {
        self.read()?;
        Ok(self.host)
    }

    /// Adds the sums of GPUs to those in host memory.
    fn read(&mut self) -> Result<(), RunError> {
        for (_, sums) in std::mem::take(&mut self.gpus) {
            self.host.resize_with(sums.len(), Vec::new);
            for (sum, values) in self.host.iter_mut().zip(read_all(sums)?) {
                add(sum, 1.0, &values);
            }
        }
        Ok(())
    }

    /// The sums, multiplied by `scale`, in the given shapes, on a device. What is on that device alone
    /// stays there.
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
        self.read()?;
        let leaves = self.host.into_iter().zip(shapes);
        let tensors =
            leaves.map(|(sum, shape)| from_floats(scale_sums(&sum, scale), shape, device));
        Ok(tensors.collect())
    }
}

impl Weight {
    /// Of a scalar; NaN of what is none.
    pub fn of_scalar(value: &RtVal) -> Self {
        match value {
            RtVal::Host(c) => Self::Known(*c),
            RtVal::Tensor(t) => Self::of(t),
            _ => Self::Known(f64::NAN),
        }
    }

    /// Of a tensor of one element; one in host memory is read at once.
    pub fn of(t: &DispatchTensor) -> Self {
        match floats(t) {
            Some(values) => Self::Known(first(Some(values.to_vec()))),
            None => Self::Tensor(t.clone()),
        }
    }

    /// In host memory; those of a GPU are read together.
    pub fn numbers(all: &[Self]) -> Result<Vec<f64>, RunError> {
        let tensors = all.iter().filter_map(|weight| match weight {
            Self::Known(_) => None,
            Self::Tensor(t) => Some(t.clone()),
        });
        let mut read = read_all(tensors.collect())?.into_iter();
        let numbers = all.iter().map(|weight| match weight {
            Self::Known(weight) => *weight,
            Self::Tensor(_) => first(read.next()),
        });
        Ok(numbers.collect())
    }

    /// In host memory.
    fn number(&self) -> Result<f64, RunError> {
        match self {
            Self::Known(weight) => Ok(*weight),
            Self::Tensor(t) => Ok(first(Some(read(t.clone())?))),
        }
    }

    /// A tensor of a GPU, times this.
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

fn first(values: Option<Vec<f32>>) -> f64 {
    let first = values.and_then(|values| values.first().copied());
    first.map_or(f64::NAN, f64::from)
}

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

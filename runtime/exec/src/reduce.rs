//! Weighted sums of clients' values, in the order of the clients.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use rayon::prelude::*;

use crate::{flex, ops};

/// Elements summed by one task.
const BLOCK: usize = 16 * 1024;

/// `Σ_k weight_k · x_k` and `Σ_k weight_k`, accumulated in `f64` in the order in which they are
/// added, so that the result depends neither on threads nor on who finished first. As large as one
/// value, however many are added.
#[derive(Default)]
pub(crate) struct WeightedSum {
    leaves: Vec<Vec<f64>>,
    pub weight: f64,
}

impl WeightedSum {
    /// Adds the tensors of one client.
    pub fn add(&mut self, weight: f64, leaves: &[DispatchTensor]) {
        self.weight += weight;
        if self.leaves.is_empty() {
            self.leaves.resize_with(leaves.len(), Vec::new);
        }
        for (sum, leaf) in self.leaves.iter_mut().zip(leaves) {
            match flex::floats(leaf) {
                Some(values) => add(sum, weight, values),
                None => add(sum, weight, &ops::values(leaf.clone())),
            }
        }
    }

    /// Adds a number.
    pub fn add_number(&mut self, weight: f64, x: f64) {
        self.weight += weight;
        match self.leaves.first_mut() {
            Some(sum) => sum[0] += weight * x,
            None => self.leaves.push(vec![weight * x]),
        }
    }

    /// The sums, multiplied by `scale`, in the given shapes.
    pub fn finish<'a>(
        self,
        scale: f64,
        shapes: impl Iterator<Item = &'a [usize]>,
        device: &DispatchDevice,
    ) -> Vec<DispatchTensor> {
        let leaves = self.leaves.into_iter().zip(shapes);
        leaves
            .map(|(sum, shape)| {
                let values = sum.into_iter().map(|x| (scale * x) as f32).collect();
                ops::tensor(values, shape, device)
            })
            .collect()
    }

    /// The sum of numbers.
    pub fn number(&self) -> f64 {
        self.leaves.first().map_or(0.0, |sum| sum[0])
    }
}

fn add(sum: &mut Vec<f64>, weight: f64, values: &[f32]) {
    sum.resize(values.len(), 0.0);
    let block = |(sum, values): (&mut [f64], &[f32])| {
        for (s, &x) in sum.iter_mut().zip(values) {
            *s += weight * f64::from(x);
        }
    };
    if values.len() > 4 * BLOCK {
        let blocks = sum.par_chunks_mut(BLOCK).zip(values.par_chunks(BLOCK));
        blocks.for_each(block);
    } else {
        block((sum, values));
    }
}

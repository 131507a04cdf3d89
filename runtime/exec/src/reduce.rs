//! Weighted sums of parameters over clients.

use burn::tensor::DispatchTensor;
use burn_dispatch::DispatchDevice;
use rayon::prelude::*;

use crate::{flex, ops};

/// Elements summed at a time: one block of every client stays in the first-level cache.
const BLOCK: usize = 4096;

/// `Σ_k weight_k · x_k` of one leaf, accumulated in `f64` in the order of the clients, so that the
/// result depends neither on threads nor on who finished first.
pub(crate) fn weighted_sum(
    leaves: &[&DispatchTensor],
    weights: &[f64],
    shape: &[usize],
    device: &DispatchDevice,
) -> DispatchTensor {
    let copies: Vec<Option<Vec<f32>>> = leaves
        .iter()
        .map(|t| flex::floats(t).is_none().then(|| ops::values((*t).clone())))
        .collect();
    let slices: Vec<&[f32]> = leaves
        .iter()
        .zip(&copies)
        .map(|(t, copy)| {
            copy.as_deref()
                .or_else(|| flex::floats(t))
                .unwrap_or_default()
        })
        .collect();
    let mut sum = vec![0.0f32; shape.iter().product()];
    let block = |(i, out): (usize, &mut [f32])| {
        let mut total = [0.0f64; BLOCK];
        for (slice, &weight) in slices.iter().zip(weights) {
            let part = &slice[i * BLOCK..i * BLOCK + out.len()];
            for (t, &x) in total.iter_mut().zip(part) {
                *t += weight * f64::from(x);
            }
        }
        for (o, t) in out.iter_mut().zip(total) {
            *o = t as f32;
        }
    };
    if sum.len() > 16 * BLOCK {
        sum.par_chunks_mut(BLOCK).enumerate().for_each(block);
    } else {
        sum.chunks_mut(BLOCK).enumerate().for_each(block);
    }
    ops::tensor(sum, shape, device)
}

//! The sums of a program, and the addition of a block to them.

use std::ops::Range;

use super::dims::Dims;
use super::program::FusedProgram;
use crate::buffers;
use crate::lanes;

/// The sums over a range of elements, or over all.
pub(super) struct Sums {
    /// For each sum over all elements, its value.
    pub all: Vec<f64>,
    /// For each sum over the first dimension, its values, [`Dims::inner`] of them. They are added in order.
    pub leading: Vec<Vec<f32>>,
    /// For each sum over all dimensions but the second, its values, [`Dims::channels`] of them.
    pub channels: Vec<Vec<f64>>,
}

impl Sums {
    /// The sums of no elements.
    pub fn zero(program: &FusedProgram, dims: Dims) -> Self {
        let (leading, channels) = (program.leading_sums.iter(), program.channel_sums.iter());
        Self {
            all: vec![0.0; program.sums.len()],
            leading: leading.map(|_| buffers::zeros(dims.inner)).collect(),
            channels: channels.map(|_| vec![0.0; dims.channels]).collect(),
        }
    }

    /// Adds the sums over another part of the elements. Sums over the first dimension are not divided into parts, so they are
    /// not added.
    pub fn add(&mut self, part: &Self) {
        let channels = self.channels.iter_mut().flatten();
        let totals = self.all.iter_mut().chain(channels);
        let sums = part.all.iter().chain(part.channels.iter().flatten());
        totals.zip(sums).for_each(|(total, sum)| *total += sum);
    }
}

/// Adds values to sums over the first dimension. `start` is the number of the first value among all elements. After the last
/// sum, it continues with the first one.
#[inline(always)]
pub(super) fn add_repeated(sums: &mut [f32], start: usize, mut values: &[f32]) {
    let mut index = start % sums.len().max(1);
    while !values.is_empty() {
        let (head, tail) = values.split_at(values.len().min(sums.len() - index));
        let sums = sums[index..].iter_mut().zip(head);
        sums.for_each(|(sum, value)| *sum += value);
        (values, index) = (tail, 0);
    }
}

/// Adds the `len` elements from element `start` on to the sums of their channels. `sum` gives the sum of a range of these
/// elements, which are all of one channel.
#[inline(always)]
pub(super) fn add_channels(
    sums: &mut [f64],
    pixels: usize,
    (start, len): (usize, usize),
    sum: impl Fn(Range<usize>) -> f32,
) {
    let mut element = start;
    while element < start + len {
        let end = (element - element % pixels + pixels).min(start + len);
        sums[element / pixels % sums.len()] += f64::from(sum(element - start..end - start));
        element = end;
    }
}

/// `Σ a`. Short slices are summed in fewer lanes, because reducing 64 lanes would take longer than the sum.
#[inline(always)]
pub(super) fn sum(a: &[f32]) -> f32 {
    match a.len() {
        ..64 => lanes::sum::<16>(a),
        _ => lanes::sum::<64>(a),
    }
}

/// `Σ a · b`, in as many lanes as [`sum`].
#[inline(always)]
pub(super) fn sum_of_product(a: &[f32], b: &[f32]) -> f32 {
    match a.len() {
        ..64 => lanes::dot::<16>(a, b),
        _ => lanes::dot::<64>(a, b),
    }
}

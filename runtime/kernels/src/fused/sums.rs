//! The sums of a program, and how a block is added to them.

use std::ops::Range;

use super::dims::Dims;
use super::program::FusedProgram;
use crate::buffers;
use crate::lanes;

/// The sums of some of the elements.
pub(super) struct Sums {
    /// Over all of them.
    pub all: Vec<f64>,
    /// Over the first dimension, in order.
    pub leading: Vec<Vec<f32>>,
    /// Over all dimensions but the second.
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

    /// Adds the sums of further elements. Those over the first dimension have no parts.
    pub fn add(&mut self, part: &Self) {
        let channels = self.channels.iter_mut().flatten();
        let own = self.all.iter_mut().chain(channels);
        let further = part.all.iter().chain(part.channels.iter().flatten());
        own.zip(further).for_each(|(own, further)| *own += further);
    }
}

/// Adds values to sums, from place `start` on and again from the first one after the last.
#[inline(always)]
pub(super) fn add_repeated(sums: &mut [f32], start: usize, mut values: &[f32]) {
    let mut at = start % sums.len().max(1);
    while !values.is_empty() {
        let (now, rest) = values.split_at(values.len().min(sums.len() - at));
        let sums = sums[at..].iter_mut().zip(now);
        sums.for_each(|(sum, value)| *sum += value);
        (values, at) = (rest, 0);
    }
}

/// Adds to the sum of each channel those of its elements from `start` on, `len` in all. `of` sums the
/// elements of one channel, which are in a range of these.
#[inline(always)]
pub(super) fn add_channels(
    sums: &mut [f64],
    pixels: usize,
    (start, len): (usize, usize),
    of: impl Fn(Range<usize>) -> f32,
) {
    let mut at = start;
    while at < start + len {
        let end = (at - at % pixels + pixels).min(start + len);
        sums[at / pixels % sums.len()] += f64::from(of(at - start..end - start));
        at = end;
    }
}

/// `Σ a`.
#[inline(always)]
pub(super) fn sum(a: &[f32]) -> f32 {
    match a.len() {
        ..64 => lanes::sum::<16>(a),
        _ => lanes::sum::<64>(a),
    }
}

/// `Σ a · b`.
#[inline(always)]
pub(super) fn sum_of_product(a: &[f32], b: &[f32]) -> f32 {
    match a.len() {
        ..64 => lanes::dot::<16>(a, b),
        _ => lanes::dot::<64>(a, b),
    }
}

//! Filters and their gradients, transformed.

use std::ops::Range;

use super::maps::{Filter, FilterGrad};
use super::transform::{PATCH, Squares, transform};
use super::{filter_place, places};
use crate::im2col::round_up;
use crate::matrix::Matrix;
use crate::scratch::room;
use crate::tile::LANES;

/// Channels that are transposed at a time. Those of a filter are neighbours, so that few would waste most of
/// every line of the cache.
const CHANNELS: usize = 8;

/// Some filters of a weight.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The channels that they read.
    pub from: Range<usize>,
    /// The channels that they write.
    pub to: Range<usize>,
    /// How many of both there are in all.
    pub of: [usize; 2],
}

impl Part {
    /// The numbers of channels.
    pub fn sizes(&self) -> [usize; 2] {
        [self.from.len(), self.to.len()]
    }
}

/// How the filters lie in the weight `[out, in, kernel, kernel]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filters {
    /// From `in` to `out`.
    Plain,
    /// From `out` to `in`, for the gradient of the input.
    Transposed,
}

impl Filters {
    /// Writes some transformed filters, `[places][from][to, filled up to whole vectors]`.
    pub fn transform(
        self,
        w: &[f32],
        part: &Part,
        kernel: usize,
        buffer: &mut Vec<f32>,
        filters: &mut [f32],
    ) {
        let [from, to] = part.sizes();
        let (pitch, len) = (taps_pitch(to), kernel * kernel);
        let taps = room(buffer, CHANNELS * len * pitch);
        for first in (0..from).step_by(CHANNELS) {
            let count = CHANNELS.min(from - first);
            let into = &mut filters[first * round_up(to)..];
            let channel = part.from.start + first;
            match self {
                Self::Plain => {
                    let filters = Matrix {
                        values: &w[(part.to.start * part.of[0] + channel) * len..],
                        stride: part.of[0] * len,
                    };
                    filters.transpose_into([to, count * len], taps, pitch);
                }
                Self::Transposed => {
                    for (i, taps) in taps.chunks_exact_mut(len * pitch).take(count).enumerate() {
                        let filters = Matrix {
                            values: &w[((channel + i) * part.of[1] + part.to.start) * len..],
                            stride: len,
                        };
                        filters.transpose_into([to, len], taps, pitch);
                    }
                }
            }
            transform_channels(taps, into, [from, to], kernel, count);
        }
    }
}

fn transform_channels(
    taps: &[f32],
    into: &mut [f32],
    [from, to]: [usize; 2],
    kernel: usize,
    count: usize,
) {
    let into = (into, places(filter_place([from, to]), round_up(to)));
    let (taps, sizes) = ((taps, squares(to, kernel)), [count, round_up(to)]);
    match kernel {
        3 => transform::<Filter, 3, PATCH>(taps, into, sizes),
        _ => transform::<Filter, 5, PATCH>(taps, into, sizes),
    }
}

/// Writes the gradients of filters, `[to, of all from, kernel, kernel]`, from the transformed ones.
pub(super) fn filter_grads(
    sums: &[f32],
    part: &Part,
    kernel: usize,
    buffer: &mut Vec<f32>,
    w: &mut [f32],
) {
    let [from, to] = part.sizes();
    let (pitch, len) = (taps_pitch(to), kernel * kernel);
    let taps = room(buffer, CHANNELS * len * pitch);
    let sums_at = places(filter_place([from, to]), round_up(to));
    for first in (0..from).step_by(CHANNELS) {
        let count = CHANNELS.min(from - first);
        let sums = (&sums[first * round_up(to)..], sums_at);
        let (into, sizes) = ((&mut *taps, squares(to, kernel)), [count, round_up(to)]);
        match kernel {
            3 => transform::<FilterGrad, PATCH, 3>(sums, into, sizes),
            _ => transform::<FilterGrad, PATCH, 5>(sums, into, sizes),
        }
        let taps = Matrix {
            values: taps,
            stride: pitch,
        };
        let w = &mut w[(part.to.start * part.of[0] + part.from.start + first) * len..];
        taps.transpose_into([count * len, to], w, part.of[0] * len);
    }
}

/// Distance between the taps of `to` filters. Powers of two would compete for the same lines of the cache.
fn taps_pitch(to: usize) -> usize {
    round_up(to) + LANES
}

/// Where the taps of channels lie.
fn squares(to: usize, kernel: usize) -> Squares {
    let pitch = taps_pitch(to);
    Squares {
        steps: [kernel * pitch, pitch],
        next: kernel * kernel * pitch,
    }
}

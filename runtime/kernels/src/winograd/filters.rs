//! Transforms filters, and transforms the gradients of transformed filters back.

use std::ops::Range;

use super::maps::{Filter, FilterGrad};
use super::transform::{PATCH, SquareLayout, transform};
use super::{filter_position_stride, position_squares};
use crate::im2col::round_up;
use crate::matrix::Matrix;
use crate::scratch::room;
use crate::tile::LANES;

/// The number of input channels that are transposed at a time. The taps of neighbouring channels are neighbours in memory,
/// so with few channels, most of every cache line would be wasted.
const CHANNELS: usize = 8;

/// A part of the filters of a weight.
#[derive(Debug, Clone)]
pub(super) struct FilterPart {
    /// The channels that the filters read.
    pub from: Range<usize>,
    /// The channels that the filters write.
    pub to: Range<usize>,
    /// The numbers of channels that all filters of the weight read and write.
    pub of: [usize; 2],
}

impl FilterPart {
    /// The numbers of channels that the filters of the part read and write.
    pub fn sizes(&self) -> [usize; 2] {
        [self.from.len(), self.to.len()]
    }
}

/// How a pass uses the filters of the weight `[out, in, kernel, kernel]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterLayout {
    /// The filters read channels `in` and write channels `out`, for the output.
    Plain,
    /// The filters read channels `out` and write channels `in`, for the gradient of the input.
    Transposed,
}

impl FilterLayout {
    /// Transforms a part of the filters to `filters`, `[positions][from][to, padded to whole vectors]`. `buffer` is scratch.
    pub fn transform(
        self,
        w: &[f32],
        part: &FilterPart,
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

/// Transforms the filters of `count` input channels. `taps` are transposed, `[from][kernel][kernel][to]`.
fn transform_channels(
    taps: &[f32],
    into: &mut [f32],
    [from, to]: [usize; 2],
    kernel: usize,
    count: usize,
) {
    let position_stride = filter_position_stride([from, to]);
    let into = (into, position_squares(position_stride, round_up(to)));
    let (taps, sizes) = ((taps, squares(to, kernel)), [count, round_up(to)]);
    match kernel {
        3 => transform::<Filter, 3, PATCH>(taps, into, sizes),
        _ => transform::<Filter, 5, PATCH>(taps, into, sizes),
    }
}

/// Transforms the gradients of a part of the filters back, and writes them to `w`, `[out, in, kernel, kernel]`. `sums` are
/// the transformed gradients, `[positions][from][to, padded to whole vectors]`. `buffer` is scratch.
pub(super) fn filter_grads(
    sums: &[f32],
    part: &FilterPart,
    kernel: usize,
    buffer: &mut Vec<f32>,
    w: &mut [f32],
) {
    let [from, to] = part.sizes();
    let (pitch, len) = (taps_pitch(to), kernel * kernel);
    let taps = room(buffer, CHANNELS * len * pitch);
    let sums_squares = position_squares(filter_position_stride([from, to]), round_up(to));
    for first in (0..from).step_by(CHANNELS) {
        let count = CHANNELS.min(from - first);
        let sums = (&sums[first * round_up(to)..], sums_squares);
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

/// The distance between the taps of `to` filters. It is not a power of two: taps at such distances would compete for the
/// same cache lines.
fn taps_pitch(to: usize) -> usize {
    round_up(to) + LANES
}

/// The layout of transposed taps.
fn squares(to: usize, kernel: usize) -> SquareLayout {
    let pitch = taps_pitch(to);
    SquareLayout {
        steps: [kernel * pitch, pitch],
        next: kernel * kernel * pitch,
    }
}

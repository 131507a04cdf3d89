//! Filters and their gradients, transformed.

use super::transform::{Filter, FilterGrad, Map, PATCH, Squares, TurnedFilter, transform};
use super::{filter_place, places};
use crate::im2col::round_up;
use crate::matrix::Matrix;
use crate::scratch::room;
use crate::tile::LANES;

/// Values of a filter for one channel.
const TAPS: usize = 9;

/// Channels that are transposed at a time. Those of a filter are neighbours, so that few would waste most of
/// every line of the cache.
const CHANNELS: usize = 8;

/// How the filters lie in the weight `[out, in, 3, 3]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filters {
    /// From `in` to `out`.
    Plain,
    /// From `out` to `in`, turned by 180°. The gradient of the input is a convolution with them.
    Turned,
}

impl Filters {
    /// Writes the transformed filters from number `start` of `all` on, `[places][from][to, filled up to whole
    /// vectors]`.
    pub fn transform(
        self,
        w: &[f32],
        from: usize,
        [start, to, all]: [usize; 3],
        buffer: &mut Vec<f32>,
        filters: &mut [f32],
    ) {
        let pitch = taps_pitch(to);
        let taps = room(buffer, CHANNELS * TAPS * pitch);
        for first in (0..from).step_by(CHANNELS) {
            let count = CHANNELS.min(from - first);
            let into = &mut filters[first * round_up(to)..];
            match self {
                Self::Plain => {
                    let filters = Matrix {
                        values: &w[(start * from + first) * TAPS..],
                        stride: from * TAPS,
                    };
                    filters.transpose_into([to, count * TAPS], taps, pitch);
                    transform_channels::<Filter>(taps, into, [from, to], count);
                }
                Self::Turned => {
                    for (i, taps) in taps.chunks_exact_mut(TAPS * pitch).take(count).enumerate() {
                        let filters = Matrix {
                            values: &w[((first + i) * all + start) * TAPS..],
                            stride: TAPS,
                        };
                        filters.transpose_into([to, TAPS], taps, pitch);
                    }
                    transform_channels::<TurnedFilter>(taps, into, [from, to], count);
                }
            }
        }
    }
}

fn transform_channels<F: Map<3, PATCH>>(
    taps: &[f32],
    into: &mut [f32],
    [from, to]: [usize; 2],
    count: usize,
) {
    let into = (into, places(filter_place([from, to]), round_up(to)));
    transform::<F, 3, PATCH>((taps, squares(to)), into, [count, round_up(to)]);
}

/// Writes the gradients of `to` filters, `[to, from, 3, 3]`, from the transformed ones.
pub(super) fn filter_grads(
    sums: &[f32],
    [from, to]: [usize; 2],
    buffer: &mut Vec<f32>,
    w: &mut [f32],
) {
    let pitch = taps_pitch(to);
    let taps = room(buffer, CHANNELS * TAPS * pitch);
    let sums_at = places(filter_place([from, to]), round_up(to));
    for first in (0..from).step_by(CHANNELS) {
        let count = CHANNELS.min(from - first);
        let sums = (&sums[first * round_up(to)..], sums_at);
        let sizes = [count, round_up(to)];
        transform::<FilterGrad, PATCH, 3>(sums, (taps, squares(to)), sizes);
        let taps = Matrix {
            values: taps,
            stride: pitch,
        };
        taps.transpose_into([count * TAPS, to], &mut w[first * TAPS..], from * TAPS);
    }
}

/// Distance between the taps of `to` filters. Powers of two would compete for the same lines of the cache.
fn taps_pitch(to: usize) -> usize {
    round_up(to) + LANES
}

/// Where the taps of channels lie.
fn squares(to: usize) -> Squares {
    let pitch = taps_pitch(to);
    Squares {
        steps: [3 * pitch, pitch],
        next: TAPS * pitch,
    }
}

//! The gradient of the weight: `[in, tiles] · [tiles, out]` at each position, summed over all tiles.
//!
//! Loop order, from outside: bands of [`BAND_TILES`] tiles, which are transformed; parts of the filters; the 36 positions;
//! then the loops of [`Product`]. The sums of all filters stay in memory until the last band. If all tiles are one band
//! and the filters are too many for the second-level cache, they are divided into blocks whose sums stay there.

use super::filters::{FilterPart, filter_grads};
use super::tiles::Tiles;
use super::{
    POSITIONS, filter_position_stride, max_filters, position_stride, tiles, uses_filter_blocks,
};
use crate::im2col::round_up;
use crate::matrix::{Matrix, Operand};
use crate::product::Product;
use crate::scratch::{Scratch, room};
use crate::shape::{FilterRange, Sizes};

/// The number of tiles of a band, which are the terms of its sums. A product adds up so many terms in registers.
const BAND_TILES: usize = 128;

/// The numbers of channels that the filters of a block read and write.
const BLOCK: [usize; 2] = [32, 256];

/// The largest number of filters for one call of [`weight_grad`], which keeps the sums of all its filters in memory unless it
/// uses blocks.
pub(crate) fn max_weight_grad_filters(sizes: &Sizes) -> usize {
    if uses_filter_blocks(sizes, BAND_TILES) {
        return sizes.filters;
    }
    max_filters([sizes.channels, sizes.filters])
}

/// Writes the weight gradient of some filters to `w`.
pub(crate) fn weight_grad(
    sizes: &Sizes,
    filters: FilterRange,
    x: &[f32],
    grad: &[f32],
    scratch: &mut Scratch,
    w: &mut [f32],
) {
    let [input, output] = tiles(sizes);
    let output = Tiles {
        channels: filters.count,
        ..output
    };
    let [rows, columns] = input.count;
    let (input_pitch, grad_pitch) = (input.pitch(), output.pitch());
    // The number of rows of tiles in a band. It does not depend on the range of filters, because it determines the order
    // of the sums.
    let band = (BAND_TILES / columns).clamp(1, rows * sizes.batch);
    let input_stride = position_stride(band * columns * input_pitch);
    let grad_stride = position_stride(band * columns * grad_pitch);
    let inputs = room(&mut scratch.rows, POSITIONS * input_stride);
    let output_grads = room(&mut scratch.grad, POSITIONS * grad_stride);
    let lines = room(
        &mut scratch.image,
        input.lines_len().max(output.lines_len()),
    );
    let x: Vec<&[f32]> = sizes
        .images(x, sizes.image_len(), filters.group, 0)
        .collect();
    let grads = sizes.images(grad, sizes.output_len(), filters.group, 0);
    let grads: Vec<&[f32]> = grads
        .map(|grad| &grad[filters.first * sizes.pixels()..])
        .collect();
    for first in (0..rows * sizes.batch).step_by(band) {
        let count = band.min(rows * sizes.batch - first);
        let tile_rows = first..first + count;
        input.inputs(&x, tile_rows.clone(), lines, (inputs, input_stride));
        let into = (&mut *output_grads, grad_stride);
        output.output_grads(&grads, tile_rows, lines, into);
        let is_last_band = first + count == rows * sizes.batch;
        for part in filter_parts(sizes, filters.count) {
            let weights = filter_position_stride(part.sizes());
            let sums = room(&mut scratch.panels, POSITIONS * weights);
            let band = Band {
                tiles: count * columns,
                inputs: TransformedTiles {
                    values: inputs,
                    position_stride: input_stride,
                    pitch: input_pitch,
                },
                output_grads: TransformedTiles {
                    values: output_grads,
                    position_stride: grad_stride,
                    pitch: grad_pitch,
                },
            };
            band.sum(&part, first > 0, sums);
            if is_last_band {
                filter_grads(sums, &part, sizes.kernel[0], &mut scratch.block, w);
            }
        }
    }
}

/// Transformed tiles, `[positions][tiles][channels]`.
struct TransformedTiles<'a> {
    values: &'a [f32],
    /// The distance between positions.
    position_stride: usize,
    /// The distance between tiles.
    pitch: usize,
}

impl<'a> TransformedTiles<'a> {
    /// The values at a position, from a channel on: a matrix `[tiles, channels]`.
    fn matrix(&self, position: usize, channel: usize) -> Matrix<'a> {
        Matrix {
            values: &self.values[position * self.position_stride + channel..],
            stride: self.pitch,
        }
    }
}

/// The transformed tiles of a band, the terms of the sums.
struct Band<'a> {
    /// The number of tiles.
    tiles: usize,
    inputs: TransformedTiles<'a>,
    output_grads: TransformedTiles<'a>,
}

impl Band<'_> {
    /// Writes the sums over the band to `sums`, or adds them, for a part of the filters at each position.
    fn sum(&self, part: &FilterPart, add: bool, sums: &mut [f32]) {
        let [from, to] = part.sizes();
        let weights = filter_position_stride(part.sizes());
        for position in 0..POSITIONS {
            Product {
                a: Operand::Transposed(self.inputs.matrix(position, part.from.start)),
                b: self.output_grads.matrix(position, part.to.start),
                c: &mut sums[position * weights..],
                pitch: round_up(to),
                sizes: [from, self.tiles, to],
                alpha: add.then_some(1.0),
            }
            .run();
        }
    }
}

/// The parts into which the filters are divided: blocks if all tiles are one band and the transformed filters do not fit
/// in the second-level cache, and otherwise one part.
fn filter_parts(sizes: &Sizes, filters: usize) -> impl Iterator<Item = FilterPart> {
    let of = [sizes.channels, filters];
    let [from, to] = if uses_filter_blocks(sizes, BAND_TILES) {
        BLOCK
    } else {
        of
    };
    let part = move |from_first: usize, to_first: usize| FilterPart {
        from: from_first..of[0].min(from_first + from),
        to: to_first..of[1].min(to_first + to),
        of,
    };
    let firsts = (0..filters).step_by(to);
    firsts.flat_map(move |to| (0..of[0]).step_by(from).map(move |from| part(from, to)))
}

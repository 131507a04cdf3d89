//! The gradient of the weight.

use super::filters::{Part, filter_grads};
use super::tiles::Tiles;
use super::{PLACES, filter_place, is_blocked, most_filters, place_len, tiles};
use crate::im2col::round_up;
use crate::matrix::{Matrix, Operand};
use crate::product::Product;
use crate::scratch::{Scratch, room};
use crate::shape::{Filters, Sizes};

/// Tiles of a band of the weight gradient, the terms of its sums. A product adds up so many in registers.
const TERMS: usize = 128;

/// The channels that the filters of a block read and write.
const BLOCK: [usize; 2] = [32, 256];

/// How many filters [`weight_grad`] has memory for: the sums of all of them are there at a time, but for blocks.
pub(crate) fn most_weights(sizes: &Sizes) -> usize {
    if is_blocked(sizes, TERMS) {
        return sizes.filters;
    }
    most_filters([sizes.channels, sizes.filters])
}

/// Writes the weight gradient of some filters to `w`.
pub(crate) fn weight_grad(
    sizes: &Sizes,
    filters: Filters,
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
    let (pitch, filters_pitch) = (input.pitch(), output.pitch());
    // The same for every part of the filters, because it determines the order of the sums.
    let band = (TERMS / columns).clamp(1, rows * sizes.batch);
    let (v_place, m_place) = (
        place_len(band * columns * pitch),
        place_len(band * columns * filters_pitch),
    );
    let v = room(&mut scratch.rows, PLACES * v_place);
    let m = room(&mut scratch.grad, PLACES * m_place);
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
        input.inputs(&x, first..first + count, lines, (v, v_place));
        output.output_grads(&grads, first..first + count, lines, (m, m_place));
        let last = first + count == rows * sizes.batch;
        for part in blocks(sizes, filters.count) {
            let weights = filter_place(part.sizes());
            let sums = room(&mut scratch.panels, PLACES * weights);
            let terms = Terms {
                count: count * columns,
                inputs: (v, v_place, pitch),
                grads: (m, m_place, filters_pitch),
            };
            terms.sum(&part, first > 0, sums);
            if last {
                filter_grads(sums, &part, sizes.kernel[0], &mut scratch.block, w);
            }
        }
    }
}

/// The transformed tiles of a band: values, distance between places, and between tiles.
struct Terms<'a> {
    count: usize,
    inputs: (&'a [f32], usize, usize),
    grads: (&'a [f32], usize, usize),
}

impl Terms<'_> {
    /// Writes or adds the sums of some filters at each place.
    fn sum(&self, part: &Part, add: bool, sums: &mut [f32]) {
        let ([from, to], weights) = (part.sizes(), filter_place(part.sizes()));
        for place in 0..PLACES {
            Product {
                a: Operand::Transposed(matrix(self.inputs, place, part.from.start)),
                b: matrix(self.grads, place, part.to.start),
                c: &mut sums[place * weights..],
                pitch: round_up(to),
                sizes: [from, self.count, to],
                alpha: 1.0,
                add,
            }
            .run();
        }
    }
}

/// The tiles' values at a place, from a channel on.
fn matrix<'a>(
    (values, step, stride): (&'a [f32], usize, usize),
    place: usize,
    channel: usize,
) -> Matrix<'a> {
    Matrix {
        values: &values[place * step + channel..],
        stride,
    }
}

/// The filters whose gradients are summed before others: all of them, or blocks where all tiles are one band.
fn blocks(sizes: &Sizes, filters: usize) -> impl Iterator<Item = Part> {
    let of = [sizes.channels, filters];
    let [from, to] = if is_blocked(sizes, TERMS) { BLOCK } else { of };
    let part = move |from_first: usize, to_first: usize| Part {
        from: from_first..of[0].min(from_first + from),
        to: to_first..of[1].min(to_first + to),
        of,
    };
    let firsts = (0..filters).step_by(to);
    firsts.flat_map(move |to| (0..of[0]).step_by(from).map(move |from| part(from, to)))
}

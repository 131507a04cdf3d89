//! The gradient of the weight.

use super::filters::filter_grads;
use super::tiles::Tiles;
use super::{PLACES, filter_place, place_len, tiles};
use crate::matrix::{Matrix, Operand};
use crate::product::Product;
use crate::scratch::{Scratch, room};
use crate::shape::{Filters, Sizes};

/// Tiles of a band of the weight gradient, the terms of its sums. A product adds up so many in registers.
const TERMS: usize = 128;

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
    let weights = filter_place([sizes.channels, filters.count]);
    // The same for every part of the filters, because it determines the order of the sums.
    let band = (TERMS / columns).clamp(1, rows * sizes.batch);
    let (v_place, m_place) = (
        place_len(band * columns * pitch),
        place_len(band * columns * filters_pitch),
    );
    let v = room(&mut scratch.rows, PLACES * v_place);
    let m = room(&mut scratch.grad, PLACES * m_place);
    let sums = room(&mut scratch.panels, PLACES * weights);
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
        for place in 0..PLACES {
            Product {
                a: Operand::Transposed(Matrix {
                    values: &v[place * v_place..],
                    stride: pitch,
                }),
                b: Matrix {
                    values: &m[place * m_place..],
                    stride: filters_pitch,
                },
                c: &mut sums[place * weights..],
                pitch: filters_pitch,
                sizes: [sizes.channels, count * columns, filters.count],
                alpha: 1.0,
                add: first > 0,
            }
            .run();
        }
    }
    let channels = [sizes.channels, filters.count];
    filter_grads(sums, channels, sizes.kernel[0], &mut scratch.block, w);
}

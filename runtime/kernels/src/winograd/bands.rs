//! The passes with many tiles. All filters are transformed once; then a *band*, some rows of tiles, is transformed,
//! multiplied with them and transformed back at a time.
//!
//! Loop order, from outside: groups, parts of the filters (20 MiB transformed), images (shared by the threads of a team),
//! bands, the 36 positions, then the loops of [`Product`]. The transformed input and output of a band (1 MiB) stay in the
//! second-level cache.

use super::filters::FilterPart;
use super::pass::Pass;
use super::tiles::Tiles;
use super::{BAND_VALUES, POSITIONS, filter_position_stride, max_filters, position_stride};
use crate::buffers;
use crate::matrix::{Matrix, Operand};
use crate::product::Product;
use crate::scratch::{self, Scratch, room};
use crate::shape::Sizes;
use crate::team;

/// The least number of tiles of a band. A band reads all transformed filters, which must not take longer than its
/// products.
const MIN_BAND_TILES: usize = 64;

/// The number of rows of tiles in a band.
fn band_rows(from: &Tiles, to: &Tiles) -> usize {
    let tile = POSITIONS * (from.pitch() + to.pitch());
    let tiles = (BAND_VALUES / tile).max(MIN_BAND_TILES);
    (tiles / from.count[1]).max(1)
}

/// The output, or the gradient of the input, over slices.
pub(super) fn run(
    pass: Pass,
    sizes: &Sizes,
    x: &[f32],
    w: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let Pass { filters, from, to } = pass;
    let mut y = buffers::arbitrary(sizes.batch * sizes.groups * to.image_len());
    let flops = sizes.flops() / sizes.groups;
    let max_channels = max_filters([from.channels, to.channels]);
    scratch::lend(
        |scratch| &mut scratch.panels,
        |panels| {
            let firsts = (0..to.channels).step_by(max_channels);
            let parts_of_group = |group| firsts.clone().map(move |first| (group, first));
            for (group, first) in (0..sizes.groups).flat_map(parts_of_group) {
                // The part of the output channels that is computed now.
                let part_to = Tiles {
                    channels: max_channels.min(to.channels - first),
                    ..to
                };
                let pass = Pass {
                    to: part_to,
                    ..pass
                };
                // The number of images that a thread computes together. It has no influence on the results.
                let images = band_rows(&from, &part_to) / from.count[0];
                let images = images.min(sizes.batch.div_ceil(team::size(flops))).max(1);
                let weights = filter_position_stride([from.channels, part_to.channels]);
                let panels = room(panels, POSITIONS * weights);
                let w = &w[group * sizes.filters * sizes.taps()..];
                scratch::with(|scratch| {
                    let part = FilterPart {
                        from: 0..from.channels,
                        to: first..first + part_to.channels,
                        of: [from.channels, to.channels],
                    };
                    filters.transform(w, &part, sizes.kernel[0], &mut scratch.block, panels);
                });
                let bias = bias.map(|bias| &bias[group * to.channels + first..]);
                let bias = bias.map(|bias| &bias[..part_to.channels]);
                let outputs = y.chunks_exact_mut(to.image_len());
                let outputs = outputs.skip(group).step_by(sizes.groups);
                let mut outputs: Vec<_> = outputs
                    .map(|y| &mut y[first * to.pixels()..][..part_to.image_len()])
                    .collect();
                let parts = outputs.chunks_mut(images).enumerate();
                team::each(flops, parts, |(i, y)| {
                    let x = sizes.images(x, from.image_len(), group, i * images);
                    let x: Vec<&[f32]> = x.take(y.len()).collect();
                    scratch::with(|scratch| run_images(&pass, panels, bias, &x, y, scratch));
                });
            }
        },
    );
    y
}

/// The pass for some images of a group, band by band. `filters` are the transformed filters.
fn run_images(
    pass: &Pass,
    filters: &[f32],
    bias: Option<&[f32]>,
    x: &[&[f32]],
    y: &mut [&mut [f32]],
    scratch: &mut Scratch,
) {
    let (from, to) = (&pass.from, &pass.to);
    let [rows, columns] = from.count;
    let pitches = [from.pitch(), to.pitch()];
    let weights = filter_position_stride([from.channels, to.channels]);
    let band = band_rows(from, to).min(rows * x.len());
    let [from_stride, to_stride] = pitches.map(|pitch| position_stride(band * columns * pitch));
    let transformed = room(&mut scratch.rows, POSITIONS * from_stride);
    let sums = room(&mut scratch.grad, POSITIONS * to_stride);
    let input_lines = room(&mut scratch.image, from.lines_len());
    let output_lines = room(&mut scratch.block, to.lines_len());
    for first in (0..rows * x.len()).step_by(band) {
        let count = band.min(rows * x.len() - first);
        let rows = first..first + count;
        pass.read(x, rows.clone(), input_lines, (transformed, from_stride));
        for position in 0..POSITIONS {
            Product {
                a: Operand::Plain(Matrix {
                    values: &transformed[position * from_stride..],
                    stride: pitches[0],
                }),
                b: Matrix {
                    values: &filters[position * weights..],
                    stride: pitches[1],
                },
                c: &mut sums[position * to_stride..],
                pitch: pitches[1],
                sizes: [count * columns, from.channels, to.channels],
                alpha: None,
            }
            .run();
        }
        pass.write((sums, to_stride), rows, output_lines, y);
    }
    pass.add_bias(bias, y);
}

//! The passes of many tiles: filters are transformed once, and then some rows of tiles at a time.

use super::filters::Part;
use super::pass::Pass;
use super::tiles::Tiles;
use super::{BAND, PLACES, filter_place, most_filters, place_len};
use crate::buffers;
use crate::matrix::{Matrix, Operand};
use crate::product::Product;
use crate::scratch::{self, Scratch, room};
use crate::shape::Sizes;
use crate::team;

/// The fewest tiles of a band. They read all filters, which must not take longer than their products.
const LEAST_TILES: usize = 64;

/// Rows of tiles that are computed at a time.
fn band(from: &Tiles, to: &Tiles) -> usize {
    let tile = PLACES * (from.pitch() + to.pitch());
    let tiles = (BAND / tile).max(LEAST_TILES);
    (tiles / from.count[1]).max(1)
}

/// The output or the gradient of the input over slices.
pub(super) fn run(
    pass: Pass,
    sizes: &Sizes,
    x: &[f32],
    w: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let Pass { filters, from, to } = pass;
    let mut y = buffers::any(sizes.batch * sizes.groups * to.image_len());
    let flops = sizes.flops() / sizes.groups;
    let most = most_filters([from.channels, to.channels]);
    scratch::lend(
        |scratch| &mut scratch.panels,
        |panels| {
            let firsts = (0..to.channels).step_by(most);
            let of_group = |group| firsts.clone().map(move |first| (group, first));
            for (group, first) in (0..sizes.groups).flat_map(of_group) {
                let some = Tiles {
                    channels: most.min(to.channels - first),
                    ..to
                };
                let pass = Pass { to: some, ..pass };
                // Every pixel is computed in the same way, whatever the images it is computed with.
                let images = band(&from, &some) / from.count[0];
                let images = images.min(sizes.batch.div_ceil(team::size(flops))).max(1);
                let weights = filter_place([from.channels, some.channels]);
                let panels = room(panels, PLACES * weights);
                let w = &w[group * sizes.filters * sizes.taps()..];
                scratch::with(|scratch| {
                    let (written, of) =
                        (first..first + some.channels, [from.channels, to.channels]);
                    let part = Part {
                        from: 0..of[0],
                        to: written,
                        of,
                    };
                    filters.transform(w, &part, sizes.kernel[0], &mut scratch.block, panels);
                });
                let bias = bias.map(|bias| &bias[group * to.channels + first..][..some.channels]);
                let all = y.chunks_exact_mut(to.image_len());
                let of_group = all.skip(group).step_by(sizes.groups);
                let mut of_group: Vec<_> = of_group
                    .map(|y| &mut y[first * to.pixels()..][..some.image_len()])
                    .collect();
                let parts = of_group.chunks_mut(images).enumerate();
                team::each(flops, parts, |(i, y)| {
                    let x = sizes.images(x, from.image_len(), group, i * images);
                    let x: Vec<&[f32]> = x.take(y.len()).collect();
                    scratch::with(|scratch| some_images(&pass, panels, bias, &x, y, scratch));
                });
            }
        },
    );
    y
}

/// Some images of a group.
fn some_images(
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
    let weights = filter_place([from.channels, to.channels]);
    let band = band(from, to).min(rows * x.len());
    let [from_place, to_place] = pitches.map(|pitch| place_len(band * columns * pitch));
    let read = room(&mut scratch.rows, PLACES * from_place);
    let sums = room(&mut scratch.grad, PLACES * to_place);
    let lines = room(&mut scratch.image, from.lines_len());
    let open = room(&mut scratch.block, to.lines_len());
    for first in (0..rows * x.len()).step_by(band) {
        let count = band.min(rows * x.len() - first);
        pass.read(x, first..first + count, lines, (read, from_place));
        for place in 0..PLACES {
            Product {
                a: Operand::Plain(Matrix {
                    values: &read[place * from_place..],
                    stride: pitches[0],
                }),
                b: Matrix {
                    values: &filters[place * weights..],
                    stride: pitches[1],
                },
                c: &mut sums[place * to_place..],
                pitch: pitches[1],
                sizes: [count * columns, from.channels, to.channels],
                alpha: 1.0,
                add: false,
            }
            .run();
        }
        pass.write((sums, to_place), first..first + count, open, y);
    }
    pass.add_bias(bias, y);
}

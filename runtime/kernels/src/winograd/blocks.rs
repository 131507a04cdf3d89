//! The passes of few tiles: a block of filters is transformed, multiplied with all tiles, and forgotten.
//!
//! Transformed, 3x3 filters take four times their memory. Those of many channels leave the second-level cache
//! before few tiles have paid for it. A block stays there, and so do the sums of the tiles that it writes.

use std::ops::Range;

use super::filters::Part;
use super::pass::Pass;
use super::tiles::Tiles;
use super::{PLACES, filter_place, place_len};
use crate::buffers;
use crate::matrix::{Matrix, Operand};
use crate::product::Product;
use crate::scratch::{self, Scratch, room};
use crate::shape::Sizes;
use crate::team;

/// The most tiles that every block of filters reads.
pub(super) const MOST_TILES: usize = 256;

/// Channels that the filters of a block read.
const FROM: usize = 128;
/// Channels that they write.
const TO: usize = 32;

/// The output or the gradient of the input over slices.
pub(super) fn run(
    pass: Pass,
    sizes: &Sizes,
    x: &[f32],
    w: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let Pass { from, to, .. } = pass;
    let mut y = buffers::any(sizes.batch * sizes.groups * to.image_len());
    let rows = sizes.batch * from.count[0];
    let place = place_len(rows * from.count[1] * from.pitch());
    scratch::lend(
        |scratch| &mut scratch.rows,
        |read| {
            let read = room(read, PLACES * place);
            for group in 0..sizes.groups {
                let x: Vec<&[f32]> = sizes.images(x, from.image_len(), group, 0).collect();
                scratch::with(|scratch| {
                    let lines = room(&mut scratch.image, from.lines_len());
                    pass.read(&x, 0..rows, lines, (read, place));
                });
                let w = &w[group * sizes.filters * sizes.taps()..];
                let bias = bias.map(|bias| &bias[group * to.channels..][..to.channels]);
                let images = y.chunks_exact_mut(to.image_len());
                let parts = parts(images.skip(group).step_by(sizes.groups), &to);
                let parts = parts.into_iter().enumerate();
                team::each(sizes.flops() / sizes.groups, parts, |(i, mut y)| {
                    let written = i * TO..to.channels.min((i + 1) * TO);
                    let bias = bias.map(|bias| &bias[written.clone()]);
                    let block = Block {
                        pass,
                        written,
                        read: (read, place),
                    };
                    scratch::with(|scratch| block.run(sizes, w, bias, &mut y, scratch));
                });
            }
        },
    );
    y
}

/// The planes of each part's channels, of all images.
fn parts<'a>(images: impl Iterator<Item = &'a mut [f32]>, to: &Tiles) -> Vec<Vec<&'a mut [f32]>> {
    let mut parts: Vec<Vec<&mut [f32]>> = vec![];
    parts.resize_with(to.channels.div_ceil(TO), Vec::new);
    for image in images {
        for (part, planes) in parts.iter_mut().zip(image.chunks_mut(TO * to.pixels())) {
            part.push(planes);
        }
    }
    parts
}

/// The filters that write some channels.
struct Block<'a> {
    pass: Pass,
    written: Range<usize>,
    /// All tiles that they read, transformed, and the distance between their places.
    read: (&'a [f32], usize),
}

impl Block<'_> {
    fn run(
        self,
        sizes: &Sizes,
        w: &[f32],
        bias: Option<&[f32]>,
        y: &mut [&mut [f32]],
        scratch: &mut Scratch,
    ) {
        let Pass { filters, from, to } = self.pass;
        let of = [from.channels, to.channels];
        let some = Tiles {
            channels: self.written.len(),
            ..to
        };
        let rows = sizes.batch * from.count[0];
        let tiles = rows * from.count[1];
        let sums_place = place_len(tiles * some.pitch());
        let sums = room(&mut scratch.grad, PLACES * sums_place);
        for first in (0..from.channels).step_by(FROM) {
            let part = Part {
                from: first..from.channels.min(first + FROM),
                to: self.written.clone(),
                of,
            };
            let weights = filter_place(part.sizes());
            let panels = room(&mut scratch.panels, PLACES * weights);
            filters.transform(w, &part, sizes.kernel[0], &mut scratch.block, panels);
            let (read, read_place) = self.read;
            for place in 0..PLACES {
                Product {
                    a: Operand::Plain(Matrix {
                        values: &read[place * read_place + first..],
                        stride: from.pitch(),
                    }),
                    b: Matrix {
                        values: &panels[place * weights..],
                        stride: some.pitch(),
                    },
                    c: &mut sums[place * sums_place..],
                    pitch: some.pitch(),
                    sizes: [tiles, part.from.len(), some.channels],
                    alpha: 1.0,
                    add: first > 0,
                }
                .run();
            }
        }
        let pass = Pass {
            to: some,
            ..self.pass
        };
        let lines = room(&mut scratch.block, some.lines_len());
        pass.write((sums, sums_place), 0..rows, lines, y);
        pass.add_bias(bias, y);
    }
}

//! The passes with few tiles and many filters. All tiles are transformed once; then a block of filters is transformed and
//! multiplied with all of them at a time.
//!
//! Transformed 3x3 filters take four times their memory. With many channels they would not stay in the second-level cache,
//! and few tiles do not pay for reading them from memory again. A block of 32 output channels by 128 input channels stays
//! in the cache, and so do the sums of its tiles.
//!
//! Loop order, from outside: groups, blocks of output channels (shared by the threads of a team), blocks of input
//! channels, the 36 positions, then the loops of [`Product`].

use std::ops::Range;

use super::filters::FilterPart;
use super::pass::Pass;
use super::tiles::Tiles;
use super::{POSITIONS, filter_position_stride, position_stride};
use crate::buffers;
use crate::matrix::{Matrix, Operand};
use crate::product::Product;
use crate::scratch::{self, Scratch, room};
use crate::shape::Sizes;
use crate::team;

/// The largest number of tiles for which this is used.
pub(super) const MAX_TILES: usize = 256;

/// The number of channels that the filters of a block read.
const BLOCK_FROM: usize = 128;
/// The number of channels that the filters of a block write.
const BLOCK_TO: usize = 32;

/// The output, or the gradient of the input, over slices.
pub(super) fn run(
    pass: Pass,
    sizes: &Sizes,
    x: &[f32],
    w: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let Pass { from, to, .. } = pass;
    let mut y = buffers::arbitrary(sizes.batch * sizes.groups * to.image_len());
    let rows = sizes.batch * from.count[0];
    let stride = position_stride(rows * from.count[1] * from.pitch());
    scratch::lend(
        |scratch| &mut scratch.rows,
        |tiles| {
            let tiles = room(tiles, POSITIONS * stride);
            for group in 0..sizes.groups {
                let x: Vec<&[f32]> = sizes.images(x, from.image_len(), group, 0).collect();
                scratch::with(|scratch| {
                    let lines = room(&mut scratch.image, from.lines_len());
                    pass.read(&x, 0..rows, lines, (tiles, stride));
                });
                let w = &w[group * sizes.filters * sizes.taps()..];
                let bias = bias.map(|bias| &bias[group * to.channels..][..to.channels]);
                let images = y.chunks_exact_mut(to.image_len());
                let parts = parts(images.skip(group).step_by(sizes.groups), &to);
                let parts = parts.into_iter().enumerate();
                team::each(sizes.flops() / sizes.groups, parts, |(i, mut y)| {
                    let to = i * BLOCK_TO..to.channels.min((i + 1) * BLOCK_TO);
                    let bias = bias.map(|bias| &bias[to.clone()]);
                    let block = Block {
                        pass,
                        to,
                        tiles,
                        stride,
                    };
                    scratch::with(|scratch| block.run(sizes, w, bias, &mut y, scratch));
                });
            }
        },
    );
    y
}

/// For each block of output channels, the planes of these channels in all images.
fn parts<'a>(images: impl Iterator<Item = &'a mut [f32]>, to: &Tiles) -> Vec<Vec<&'a mut [f32]>> {
    let mut parts: Vec<Vec<&mut [f32]>> = vec![];
    parts.resize_with(to.channels.div_ceil(BLOCK_TO), Vec::new);
    for image in images {
        let blocks = image.chunks_mut(BLOCK_TO * to.pixels());
        for (part, planes) in parts.iter_mut().zip(blocks) {
            part.push(planes);
        }
    }
    parts
}

/// The filters that write a block of output channels.
struct Block<'a> {
    pass: Pass,
    /// The output channels.
    to: Range<usize>,
    /// All transformed tiles of the input.
    tiles: &'a [f32],
    /// The distance between the positions of `tiles`.
    stride: usize,
}

impl Block<'_> {
    /// Computes the output channels of the block, for all images.
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
        let block_to = Tiles {
            channels: self.to.len(),
            ..to
        };
        let rows = sizes.batch * from.count[0];
        let tile_count = rows * from.count[1];
        let sums_stride = position_stride(tile_count * block_to.pitch());
        let sums = room(&mut scratch.grad, POSITIONS * sums_stride);
        for first in (0..from.channels).step_by(BLOCK_FROM) {
            let part = FilterPart {
                from: first..from.channels.min(first + BLOCK_FROM),
                to: self.to.clone(),
                of,
            };
            let weights = filter_position_stride(part.sizes());
            let panels = room(&mut scratch.panels, POSITIONS * weights);
            filters.transform(w, &part, sizes.kernel[0], &mut scratch.block, panels);
            for position in 0..POSITIONS {
                Product {
                    a: Operand::Plain(Matrix {
                        values: &self.tiles[position * self.stride + first..],
                        stride: from.pitch(),
                    }),
                    b: Matrix {
                        values: &panels[position * weights..],
                        stride: block_to.pitch(),
                    },
                    c: &mut sums[position * sums_stride..],
                    pitch: block_to.pitch(),
                    sizes: [tile_count, part.from.len(), block_to.channels],
                    alpha: (first > 0).then_some(1.0),
                }
                .run();
            }
        }
        let pass = Pass {
            to: block_to,
            ..self.pass
        };
        let lines = room(&mut scratch.block, block_to.lines_len());
        pass.write((sums, sums_stride), 0..rows, lines, y);
        pass.add_bias(bias, y);
    }
}

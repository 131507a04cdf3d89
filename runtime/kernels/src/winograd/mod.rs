//! Convolutions by Winograd's minimal filtering, F(4x4, 3x3) and F(2x2, 5x5).
//!
//! A tile of 4x4 output pixels of a 3x3 filter depends on 6x6 input pixels, and so does a tile of 2x2 output pixels of a 5x5
//! filter. The input pixels and the filter are both transformed to 36 values, at 36 *positions*. The convolution then
//! becomes a product of the two values at each position: 36 multiplications instead of 144 or 100 (Winograd 1980; Lavin and
//! Gray, arXiv:1509.09308).
//!
//! Transformed tiles are `[positions][tiles][channels]`, and transformed filters `[positions][in][out]`, so each position has
//! an ordinary matrix product: `[tiles, in] · [in, out]`. With channels last, a tile is transformed for a vector of channels
//! at a time. Images are transposed line by line on the way in and out.
//!
//! With many tiles, a band of tiles is computed at a time, whose values stay in the second-level cache ([`bands`]). With few
//! tiles and many filters, a block of filters is computed at a time instead ([`blocks`]).
//!
//! Both gradients are transposes of the convolution, with the same tiles. The gradient of the input uses the transposed
//! filters, `[tiles, out] · [out, in]`, and adds up overlapping tiles. The gradient of the weight is
//! `[in, tiles] · [tiles, out]` at each position, summed over all tiles ([`weight`]).

mod bands;
mod blocks;
mod choice;
mod filters;
mod maps;
mod pass;
mod tiles;
mod transform;
mod weight;

pub(crate) use choice::is_faster;
use filters::FilterLayout;
use pass::Pass;
use tiles::Tiles;
use transform::{PATCH, SquareLayout, tile};
pub(crate) use weight::{max_weight_grad_filters, weight_grad};

use crate::im2col::round_up;
use crate::shape::Sizes;
use crate::tile::LANES;

/// The convolution over slices.
pub(crate) fn output(sizes: &Sizes, x: &[f32], w: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
    let [from, to] = tiles(sizes);
    let filters = FilterLayout::Plain;
    run(Pass { filters, from, to }, sizes, x, w, bias)
}

/// The gradient of the input over slices.
pub(crate) fn input_grad(sizes: &Sizes, w: &[f32], grad: &[f32]) -> Vec<f32> {
    let [to, from] = tiles(sizes);
    let filters = FilterLayout::Transposed;
    run(Pass { filters, from, to }, sizes, grad, w, None)
}

fn run(pass: Pass, sizes: &Sizes, x: &[f32], w: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
    if uses_filter_blocks(sizes, blocks::MAX_TILES) {
        blocks::run(pass, sizes, x, w, bias)
    } else {
        bands::run(pass, sizes, x, w, bias)
    }
}

/// The number of values of a transformed tile. There is a matrix product for each of these positions.
const POSITIONS: usize = PATCH * PATCH;

/// The layout of transformed tiles or filters, `[POSITIONS][..][channels]`: `stride` is the distance between positions, and
/// `next` the distance between tiles.
fn position_squares(stride: usize, next: usize) -> SquareLayout {
    SquareLayout {
        steps: [PATCH * stride, stride],
        next,
    }
}

/// The distance between positions of `len` values each. It is longer than `len`, because the 36 values of a tile would
/// compete for the same cache lines if the distance were a power of two.
fn position_stride(len: usize) -> usize {
    len + LANES
}

/// The distance between the positions of transformed filters that read `from` channels and write `to` channels.
fn filter_position_stride([from, to]: [usize; 2]) -> usize {
    position_stride(from * round_up(to))
}

/// The tiles of the input and of the output of a convolution.
fn tiles(sizes: &Sizes) -> [Tiles; 2] {
    let tile = tile(sizes.kernel[0]);
    let input = Tiles {
        channels: sizes.channels,
        image: sizes.image,
        padding: sizes.padding,
        tile,
        count: sizes.output.map(|len| len.div_ceil(tile)),
    };
    let output = Tiles {
        channels: sizes.filters,
        image: sizes.output,
        padding: [0, 0],
        ..input
    };
    [input, output]
}

/// The number of values of the transformed filters that are in memory at a time (20 MiB). 512 filters for 512 channels would
/// take twice as much.
const FILTER_VALUES: usize = 5 << 20;

/// The number of filters that are transformed at a time, if all filters read `from` channels and write `to` channels. The
/// number has no influence on the results.
fn max_filters([from, to]: [usize; 2]) -> usize {
    let parts = (POSITIONS * filter_position_stride([from, to])).div_ceil(FILTER_VALUES);
    round_up(to.div_ceil(parts))
}

/// The number of values of the transformed input and output of a band (1 MiB).
const BAND_VALUES: usize = 256 * 1024;

/// Whether filters are computed in blocks: there are at most `max_tiles` tiles, and all transformed filters together do not
/// fit in the second-level cache.
fn uses_filter_blocks(sizes: &Sizes, max_tiles: usize) -> bool {
    let [from, _] = tiles(sizes);
    let few_tiles = sizes.batch * from.count[0] * from.count[1] <= max_tiles;
    let filters = filter_position_stride([sizes.channels, sizes.filters]);
    few_tiles && POSITIONS * filters > BAND_VALUES
}

#[cfg(test)]
mod tests;

//! Convolutions by Winograd's minimal filtering, F(4x4, 3x3) and F(2x2, 5x5).
//!
//! A tile of 4x4 pixels of the output of a 3x3 filter depends on 6x6 pixels of the input, and so does one of 2x2
//! pixels of a 5x5 filter. Both the tile and the filter are transformed to 36 values, so that the convolution
//! becomes a product at each of the 36 places. That is 36 multiplications instead of 144 or 100 (Winograd 1980;
//! Lavin and Gray, arXiv:1509.09308).
//!
//! With channels last, a tile is transformed a vector of channels at a time, and each place has an ordinary
//! matrix product: `[tiles, in] · [in, out]`. Images are transposed line by line on the way in and out. Some
//! rows of tiles are computed at a time, so that their values stay in the second-level cache. Where the filters
//! would not stay there, and the tiles are few, a block of filters is computed at a time instead.
//!
//! Both gradients are transposes of the convolution, with the same tiles. That of the input has the transposed
//! filters, `[tiles, out] · [out, in]`, and adds up overlapping tiles. That of the weight is
//! `[in, tiles] · [tiles, out]` at each place, summed over all tiles.

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
use filters::Filters;
use pass::Pass;
use tiles::Tiles;
use transform::{PATCH, Squares, tile};
pub(crate) use weight::{most_weights, weight_grad};

use crate::im2col::round_up;
use crate::shape::Sizes;
use crate::tile::LANES;

/// The convolution over slices.
pub(crate) fn output(sizes: &Sizes, x: &[f32], w: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
    let [from, to] = tiles(sizes);
    let filters = Filters::Plain;
    run(Pass { filters, from, to }, sizes, x, w, bias)
}

/// The gradient of the input over slices.
pub(crate) fn input_grad(sizes: &Sizes, w: &[f32], grad: &[f32]) -> Vec<f32> {
    let [to, from] = tiles(sizes);
    let filters = Filters::Transposed;
    run(Pass { filters, from, to }, sizes, grad, w, None)
}

fn run(pass: Pass, sizes: &Sizes, x: &[f32], w: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
    if is_blocked(sizes, blocks::MOST_TILES) {
        blocks::run(pass, sizes, x, w, bias)
    } else {
        bands::run(pass, sizes, x, w, bias)
    }
}

/// The values of a transformed tile, each with a product of its own.
const PLACES: usize = PATCH * PATCH;

/// Where the values of tiles lie that are `[PLACES][tiles][channels]`.
fn places(place: usize, next: usize) -> Squares {
    Squares {
        steps: [PATCH * place, place],
        next,
    }
}

/// Distance between the places of `len` values. If it were a power of two, the 36 values of a tile would
/// compete for the same lines of the cache.
fn place_len(len: usize) -> usize {
    len + LANES
}

/// The same for transformed filters.
fn filter_place([from, to]: [usize; 2]) -> usize {
    place_len(from * round_up(to))
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

/// Values of the transformed filters that are in memory at a time (20 MiB). All those of 512 filters for 512
/// channels take twice as much.
const FILTERS: usize = 5 << 20;

/// How many of the filters `from` some channels `to` others are transformed at a time. A filter's values do not
/// depend on the others.
fn most_filters([from, to]: [usize; 2]) -> usize {
    let parts = (PLACES * filter_place([from, to])).div_ceil(FILTERS);
    round_up(to.div_ceil(parts))
}

/// Values of the transformed input and output of a band of tiles (1 MiB).
const BAND: usize = 256 * 1024;

/// Whether there are at most so many tiles, while all transformed filters together are too many for the
/// second-level cache.
fn is_blocked(sizes: &Sizes, most_tiles: usize) -> bool {
    let [from, _] = tiles(sizes);
    let few = sizes.batch * from.count[0] * from.count[1] <= most_tiles;
    few && PLACES * filter_place([sizes.channels, sizes.filters]) > BAND
}

#[cfg(test)]
mod tests;

//! Convolutions by Winograd's minimal filtering, F(4x4, 3x3).
//!
//! A tile of 4x4 pixels of the output depends on 6x6 pixels of the input. Both the tile and the filter are
//! transformed to 36 values, so that the convolution becomes a product at each of the 36 places. That is 36
//! multiplications instead of 144 (Winograd 1980; Lavin and Gray, arXiv:1509.09308).
//!
//! With channels last, a tile is transformed a vector of channels at a time, and each place has an ordinary
//! matrix product: `[tiles, in] · [in, out]`. Images are transposed line by line on the way in and out. Some
//! rows of tiles are computed at a time, so that their values stay in the second-level cache.
//!
//! The gradient of the input is the convolution of the output's gradient with the turned filters. The
//! gradient of the weight is the transpose of the convolution in its filters: `[in, tiles] · [tiles, out]` at
//! each place, summed over all tiles.

mod choice;
mod filters;
mod tiles;
mod transform;

use std::ops::Range;

pub(crate) use choice::is_faster;
pub(crate) use filters::Filters;
use filters::filter_grads;
use tiles::Tiles;
use transform::{PATCH, Squares, TILE};

use crate::im2col::round_up;
use crate::matrix::{Matrix, Operand};
use crate::product::Product;
use crate::scratch::{self, Scratch, room};
use crate::shape::{self, Sizes};
use crate::team;
use crate::tile::LANES;

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
    let input = Tiles {
        channels: sizes.channels,
        image: sizes.image,
        padding: sizes.padding,
        count: sizes.output.map(|len| len.div_ceil(TILE)),
    };
    let output = Tiles {
        channels: sizes.filters,
        image: sizes.output,
        padding: [0, 0],
        count: input.count,
    };
    [input, output]
}

/// The convolution with [`Filters::Turned`] whose output is the gradient of the input of this one, which has
/// stride 1. `None` if its padding would be negative.
pub(crate) fn turned(sizes: &Sizes) -> Option<Sizes> {
    let padding = |i: usize| (sizes.kernel[i] - 1).checked_sub(sizes.padding[i]);
    let padding = [padding(0)?, padding(1)?];
    Some(Sizes {
        channels: sizes.filters,
        image: sizes.output,
        padding,
        padded: std::array::from_fn(|i| sizes.output[i] + 2 * padding[i]),
        filters: sizes.channels,
        output: sizes.image,
        ..*sizes
    })
}

/// The convolution over slices.
pub(crate) fn forward(
    sizes: &Sizes,
    filters: Filters,
    x: &[f32],
    w: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let mut y = vec![0.0; sizes.batch * sizes.groups * sizes.output_len()];
    let [rows, _] = tiles(sizes)[0].count;
    let flops = sizes.flops() / sizes.groups;
    let most = most_filters(sizes);
    scratch::lend(
        |scratch| &mut scratch.panels,
        |panels| {
            let firsts = (0..sizes.filters).step_by(most);
            let of_group = |group| firsts.clone().map(move |first| (group, first));
            for (group, first) in (0..sizes.groups).flat_map(of_group) {
                let some = Sizes {
                    filters: most.min(sizes.filters - first),
                    ..*sizes
                };
                // Every pixel is computed in the same way, whatever the images it is computed with.
                let images = (band(&some) / rows).min(sizes.batch.div_ceil(team::size(flops)));
                let images = images.max(1);
                let weights = filter_place([sizes.channels, some.filters]);
                let panels = room(panels, PLACES * weights);
                let w = &w[group * sizes.filters * sizes.taps()..];
                scratch::with(|scratch| {
                    let chosen = [first, some.filters, sizes.filters];
                    filters.transform(w, sizes.channels, chosen, &mut scratch.block, panels);
                });
                let bias = bias.map(|bias| &bias[group * sizes.filters + first..][..some.filters]);
                let outputs = y.chunks_exact_mut(sizes.output_len());
                let outputs = outputs.skip(group).step_by(sizes.groups);
                let mut outputs: Vec<_> = outputs
                    .map(|y| &mut y[first * sizes.pixels()..][..some.output_len()])
                    .collect();
                let parts = outputs.chunks_mut(images).enumerate();
                team::each(flops, parts, |(i, y)| {
                    let x = sizes.images(x, sizes.image_len(), group, i * images);
                    let x: Vec<&[f32]> = x.take(y.len()).collect();
                    scratch::with(|scratch| some_images(&some, panels, bias, &x, y, scratch));
                });
            }
        },
    );
    y
}

/// The convolution of some images of a group.
fn some_images(
    sizes: &Sizes,
    filters: &[f32],
    bias: Option<&[f32]>,
    x: &[&[f32]],
    y: &mut [&mut [f32]],
    scratch: &mut Scratch,
) {
    let [input, output] = tiles(sizes);
    let [rows, columns] = input.count;
    let (pitch, filters_pitch) = (input.pitch(), output.pitch());
    let weights = filter_place([sizes.channels, sizes.filters]);
    let band = band(sizes).min(rows * x.len());
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
    for first in (0..rows * x.len()).step_by(band) {
        let count = band.min(rows * x.len() - first);
        transform_input(&input, x, first..first + count, lines, (v, v_place));
        for place in 0..PLACES {
            Product {
                a: Operand::Plain(Matrix {
                    values: &v[place * v_place..],
                    stride: pitch,
                }),
                b: Matrix {
                    values: &filters[place * weights..],
                    stride: filters_pitch,
                },
                c: &mut m[place * m_place..],
                pitch: filters_pitch,
                sizes: [count * columns, sizes.channels, sizes.filters],
                alpha: 1.0,
                add: false,
            }
            .run();
        }
        for i in 0..count {
            let (image, row) = ((first + i) / rows, (first + i) % rows);
            let sums = (&m[i * columns * filters_pitch..], m_place);
            output.output(sums, row, lines, y[image]);
        }
    }
    if let Some(bias) = bias {
        for y in y {
            for (plane, bias) in y.chunks_exact_mut(sizes.pixels()).zip(bias) {
                for y in plane {
                    *y += bias;
                }
            }
        }
    }
}

/// Transforms rows of tiles of the input; the rows of all images are numbered one after another.
fn transform_input(
    input: &Tiles,
    x: &[&[f32]],
    band: Range<usize>,
    lines: &mut [f32],
    (into, place): (&mut [f32], usize),
) {
    let [rows, columns] = input.count;
    for (i, at) in band.enumerate() {
        let (image, row) = (at / rows, at % rows);
        let into = (&mut into[i * columns * input.pitch()..], place);
        input.input(x[image], row, i > 0 && row > 0, lines, into);
    }
}

/// Writes the weight gradient of some filters to `w`.
pub(crate) fn weight_grad(
    sizes: &Sizes,
    filters: shape::Filters,
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
        transform_input(&input, &x, first..first + count, lines, (v, v_place));
        for i in 0..count {
            let (image, row) = ((first + i) / rows, (first + i) % rows);
            let into = (&mut m[i * columns * filters_pitch..], m_place);
            output.output_grad(grads[image], row, lines, into);
        }
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
    filter_grads(sums, channels, &mut scratch.block, w);
}

/// Values of the transformed filters that are in memory at a time (20 MiB). All those of 512 filters for 512
/// channels take twice as much.
const FILTERS: usize = 5 << 20;

/// The filters that are transformed at a time. A filter's values do not depend on the others.
pub(crate) fn most_filters(sizes: &Sizes) -> usize {
    let parts = (PLACES * filter_place([sizes.channels, sizes.filters])).div_ceil(FILTERS);
    round_up(sizes.filters.div_ceil(parts))
}

/// Values of the transformed input and output of a band of tiles (1 MiB).
const BAND: usize = 256 * 1024;

/// The fewest tiles of a band. They read all filters, which must not take longer than their products.
const LEAST_TILES: usize = 64;

/// Tiles of a band of the weight gradient, the terms of its sums. A product adds up so many in registers.
const TERMS: usize = 128;

/// Rows of tiles that are computed at a time.
fn band(sizes: &Sizes) -> usize {
    let [input, output] = tiles(sizes);
    let tile = PLACES * (input.pitch() + output.pitch());
    let tiles = (BAND / tile).max(LEAST_TILES);
    (tiles / input.count[1]).max(1)
}

#[cfg(test)]
mod tests;

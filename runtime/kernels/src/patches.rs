//! The weight gradient from channels-last images: the sum over output pixels of a filter's gradient times a patch of the
//! image.
//!
//! With channels last, one kernel row of a patch is `kw * channels` neighbouring values. The gradient is then a product
//! of rows ([`RowBlock`]): the terms are the pixels `p`, the factors are `grad[o, p]`, and the rows of `B` are the image
//! from pixel `p` on, shifted by `ky`. Unlike dot products, it computes no surplus pixels and adds up no lanes, which
//! matters for small maps with many channels. In return it has to transpose the images.
//!
//! Loop order, from outside: groups of images with [`DEPTH`] pixels together, blocks of filters, kernel rows `ky`, then
//! the loops of [`RowBlock`]. The transposed images of a group and the packed gradients of a block stay in the
//! second-level cache. The sums are `[filters][kh][kw * channels]`, and are transposed at the end.

use crate::im2col::round_up;
use crate::matrix::Matrix;
use crate::scratch::{Scratch, room};
use crate::shape::{FilterRange, Sizes};
use crate::tile::{DEPTH, LANES, ROWS, RowBlock, blocks};

/// Whether this is faster than the dot products, by measurement. Short rows waste a part of a vector or of a tile, and
/// for large maps the transposition costs more than the surplus pixels of the dot products. With a dilation, the values
/// of a kernel row are not neighbours.
pub(crate) fn is_faster(sizes: &Sizes) -> bool {
    sizes.dilation[1] == 1 && sizes.kernel[1] * sizes.channels >= 96 && sizes.pixels() <= 1024
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
    let [kh, kw] = sizes.kernel;
    let (pixels, channels) = (sizes.pixels(), sizes.channels);
    let row_len = round_up(kw * channels);
    let image_len = sizes.padded[0] * sizes.padded[1] * channels;
    let group = (DEPTH / pixels).clamp(1, sizes.batch);
    let starts = pixel_starts(sizes, group, image_len);

    let images = room(&mut scratch.rows, group * image_len + LANES);
    let panel = room(&mut scratch.panels, group * pixels * ROWS);
    let sums = room(&mut scratch.grad, filters.count * kh * row_len);
    sums.fill(0.0);
    for first in (0..sizes.batch).step_by(group) {
        let part = group.min(sizes.batch - first);
        let x = sizes.images(x, sizes.image_len(), filters.group, first);
        channels_last(sizes, x.take(part), images);
        let terms = part * pixels;
        for (start, count) in blocks(filters.count) {
            let panel = &mut panel[..terms * count];
            let grad = sizes.images(grad, sizes.output_len(), filters.group, first);
            pack_grad(grad, pixels, (filters.first + start, count), panel);
            for ky in 0..kh {
                let c_offsets: [usize; ROWS] =
                    std::array::from_fn(|i| ((start + i) * kh + ky) * row_len);
                RowBlock {
                    rows: count,
                    panel,
                    b: &images[ky * sizes.dilation[0] * sizes.padded[1] * channels..],
                    b_offsets: &starts[..terms],
                    len: row_len,
                    c: sums,
                    c_offsets: &c_offsets[..count],
                    add: true,
                }
                .run();
            }
        }
    }
    // Transposes the sums from [out, kh, (kw, in)] to [out, in, kh, kw].
    let filters = w.chunks_exact_mut(channels * kh * kw);
    for (w, sums) in filters.zip(sums.chunks_exact(kh * row_len)) {
        for (tap, row) in (0..kh * kw).map(|tap| (tap, &sums[tap / kw * row_len..])) {
            let row = &row[tap % kw * channels..][..channels];
            for (w, sum) in w[tap..].iter_mut().step_by(kh * kw).zip(row) {
                *w = *sum;
            }
        }
    }
}

/// The start of the patch of each output pixel in the channels-last images, for a group of images.
fn pixel_starts(sizes: &Sizes, group: usize, image_len: usize) -> Vec<usize> {
    let [sy, sx] = sizes.stride;
    let width = sizes.output[1];
    let pixel = |p: usize| (p / width * sy * sizes.padded[1] + p % width * sx) * sizes.channels;
    let pixels: Vec<usize> = (0..sizes.pixels()).map(pixel).collect();
    (0..group)
        .flat_map(|n| pixels.iter().map(move |p| n * image_len + p))
        .collect()
}

/// Transposes images to `[images][padded height][padded width][channels]`.
fn channels_last<'a>(sizes: &Sizes, x: impl Iterator<Item = &'a [f32]>, images: &mut [f32]) {
    let [height, width] = sizes.image;
    let [top, left] = sizes.padding;
    let channels = sizes.channels;
    if sizes.padding != [0, 0] {
        images.fill(0.0);
    }
    let padded = images.chunks_exact_mut(sizes.padded[0] * sizes.padded[1] * channels);
    for (x, padded) in x.zip(padded) {
        let rows = padded.chunks_exact_mut(sizes.padded[1] * channels);
        for (y, row) in rows.skip(top).take(height).enumerate() {
            let line = Matrix {
                values: &x[y * width..],
                stride: height * width,
            };
            line.transpose_into([channels, width], &mut row[left * channels..], channels);
        }
    }
}

/// Packs the gradients of `count` filters, from filter `start` on, into a panel `[images * pixels][count]`.
fn pack_grad<'a>(
    images: impl Iterator<Item = &'a [f32]>,
    pixels: usize,
    (start, count): (usize, usize),
    panel: &mut [f32],
) {
    for (grad, panel) in images.zip(panel.chunks_exact_mut(pixels * count)) {
        let rows = grad[start * pixels..].chunks_exact(pixels).take(count);
        for (i, row) in rows.enumerate() {
            for (into, value) in panel[i..].iter_mut().step_by(count).zip(row) {
                *into = *value;
            }
        }
    }
}

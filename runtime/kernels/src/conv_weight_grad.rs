//! The gradient of a convolution with respect to its weight. There are three methods: Winograd's, products over
//! patches ([`patches`]), and dot products of output gradients with rows of the im2col matrix, which are in this file.
//!
//! The dot products are computed for a group of images at a time, which are staged together (512 KiB), because the
//! sums of a tile then stay in registers over several images. Threads share the filters. If there are few weights and
//! many images, they share the groups of images instead, each with sums of its own.

use std::ops::Range;

use burn_flex::FlexTensor;

use crate::buffers;
use crate::conv_grad::check_grad;
use crate::flex::{floats, shape4};
use crate::im2col::Im2col;
use crate::patches;
use crate::row_dots::RowDots;
use crate::scratch::{self, Scratch, room};
use crate::shape::{Conv2d, FilterRange, Sizes};
use crate::team;
use crate::tile::ROWS;
use crate::winograd;

/// Gradient of [`conv2d`](crate::conv2d) with respect to its weight.
///
/// # Shapes
/// `x: [batch, in, height, width]`, `grad: [batch, out, oh, ow]`; the result has `w_shape`.
///
/// # Panics
/// If [`Conv2d::supports`] is false for these shapes, or `grad` does not have the output's shape.
pub fn conv2d_weight_grad(
    x: &FlexTensor,
    grad: &FlexTensor,
    w_shape: [usize; 4],
    options: &Conv2d,
) -> FlexTensor {
    let sizes = options.sizes(shape4(x, "conv2d input"), w_shape);
    check_grad(&sizes, grad);
    let (x, grad) = (x.to_contiguous(), grad.to_contiguous());
    let mut w = buffers::zeros(w_shape.iter().product());
    let (x, grad) = (x.storage(), grad.storage());
    let lowering = Im2col::for_dots(&sizes);
    let by_winograd = !options.exact && winograd::is_faster(&sizes);
    let by_patches = !by_winograd && patches::is_faster(&sizes);
    let by_dots = !by_winograd && !by_patches;
    if by_dots && team::size(sizes.flops()) > 1 && can_share_images(&sizes, &lowering) {
        weight_grad_by_images(&sizes, &lowering, x, grad, &mut w);
        return floats(w, &sizes.w_shape());
    }
    // Every thread stages all images for itself, so there should not be more parts than threads.
    let parts = team::size(sizes.flops()).div_ceil(sizes.groups);
    let mut part_filters = sizes.filters.div_ceil(parts).next_multiple_of(ROWS);
    if by_winograd {
        part_filters = part_filters.min(winograd::max_weight_grad_filters(&sizes));
    }
    let groups = w.chunks_exact_mut(sizes.filters * sizes.taps()).enumerate();
    let parts = groups.flat_map(|(group, w)| {
        let parts = w.chunks_mut(part_filters * sizes.taps()).enumerate();
        parts.map(move |(i, w)| {
            let filters = FilterRange {
                group,
                first: i * part_filters,
                count: w.len() / sizes.taps(),
            };
            (filters, w)
        })
    });
    team::each(sizes.flops(), parts, |(filters, w)| {
        scratch::with(|scratch| {
            if by_winograd {
                winograd::weight_grad(&sizes, filters, x, grad, scratch, w);
            } else if by_patches {
                patches::weight_grad(&sizes, filters, x, grad, scratch, w);
            } else {
                weight_grad(&sizes, filters, &lowering, x, grad, scratch, w);
            }
        });
    });
    floats(w, &sizes.w_shape())
}

/// Adds the weight gradient of some filters to `w`, by dot products.
pub(crate) fn weight_grad(
    sizes: &Sizes,
    filters: FilterRange,
    lowering: &Im2col,
    x: &[f32],
    grad: &[f32],
    scratch: &mut Scratch,
    w: &mut [f32],
) {
    let group = images_at_once(sizes, lowering);
    for first in (0..sizes.batch).step_by(group) {
        let images = first..sizes.batch.min(first + group);
        weight_grad_of_images(sizes, (filters, images), lowering, x, grad, scratch, w);
    }
}

/// Adds the weight gradient of all filters to `w`. The threads share the images; if they shared the filters, each would
/// have to stage all images. Each group of images has sums of its own, which are added in order, so the results are
/// those of [`weight_grad`] bit for bit.
fn weight_grad_by_images(sizes: &Sizes, lowering: &Im2col, x: &[f32], grad: &[f32], w: &mut [f32]) {
    let filters = FilterRange {
        group: 0,
        first: 0,
        count: sizes.filters,
    };
    let group = images_at_once(sizes, lowering);
    scratch::lend(
        |scratch| &mut scratch.block,
        |sums| {
            let sums = room(sums, sizes.batch.div_ceil(group) * w.len());
            sums.fill(0.0);
            let parts = sums.chunks_exact_mut(w.len()).enumerate();
            team::each(sizes.flops(), parts, |(i, sums)| {
                let images = i * group..sizes.batch.min((i + 1) * group);
                scratch::with(|scratch| {
                    let part = (filters, images);
                    weight_grad_of_images(sizes, part, lowering, x, grad, scratch, sums);
                });
            });
            for sums in sums.chunks_exact(w.len()) {
                for (w, sum) in w.iter_mut().zip(sums) {
                    *w += sum;
                }
            }
        },
    );
}

/// Whether threads should share the images: there are enough groups of images, and the sums of each group are small.
fn can_share_images(sizes: &Sizes, lowering: &Im2col) -> bool {
    let weights = sizes.filters * sizes.taps();
    sizes.groups == 1
        && weights <= MAX_PARTIAL_SUMS
        && 3 * images_at_once(sizes, lowering) <= sizes.batch
}

/// The number of images in a group, which are staged together. It is the same for every part of the filters, because it
/// determines the order of the sums.
fn images_at_once(sizes: &Sizes, lowering: &Im2col) -> usize {
    let staged = sizes.filters * lowering.len + lowering.rows_len(sizes);
    (STAGED_VALUES / staged).clamp(1, sizes.batch)
}

/// Adds the weight gradient of some filters and of a group of images to `w`.
fn weight_grad_of_images(
    sizes: &Sizes,
    (filters, images): (FilterRange, Range<usize>),
    lowering: &Im2col,
    x: &[f32],
    grad: &[f32],
    scratch: &mut Scratch,
    w: &mut [f32],
) {
    let (b_len, a_len) = (lowering.rows_len(sizes), filters.count * lowering.len);
    let a = room(&mut scratch.grad, images.len() * a_len);
    let b = room(&mut scratch.rows, images.len() * b_len);
    let grads = sizes.images(grad, sizes.output_len(), filters.group, images.start);
    for (grad, a) in grads.zip(a.chunks_exact_mut(a_len)) {
        lowering.stage_grad(sizes, &grad[filters.first * sizes.pixels()..], a);
    }
    let xs = sizes.images(x, sizes.image_len(), filters.group, images.start);
    for (x, b) in xs.zip(b.chunks_exact_mut(b_len)) {
        lowering.stage(sizes, x, &mut scratch.image, b);
    }
    RowDots {
        rows: filters.count,
        a,
        b,
        b_offsets: &lowering.offsets,
        len: lowering.len,
        c: w,
    }
    .run();
}

/// The largest number of weights for which each group of images has sums of its own (64 KiB).
const MAX_PARTIAL_SUMS: usize = 16 * 1024;

/// The number of values that are staged together (512 KiB). The sums of a tile stay in registers over all images of a
/// group, which matters for images of few pixels.
const STAGED_VALUES: usize = 128 * 1024;

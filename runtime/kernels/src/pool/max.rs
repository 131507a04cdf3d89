//! Max pooling and its gradient.

use burn_backend::DType;
use burn_flex::FlexTensor;

use super::axis::{Axis, strided};
use crate::buffers;
use crate::flex::{floats, ints, shape4};
use crate::lanes;
use crate::lines::{block, block_mut, starts};
use crate::simd::vectorize;

/// Options of a two-dimensional max pooling, in the order height, width. The size of the output is rounded
/// down (burn's `ceil_mode = false`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxPool2d {
    /// The size of a window.
    pub kernel: [usize; 2],
    /// Input pixels between neighbouring windows.
    pub stride: [usize; 2],
    /// Pixels outside the image on both sides. They are never the maximum.
    pub padding: [usize; 2],
    /// Input pixels between neighbouring window elements.
    pub dilation: [usize; 2],
}

impl Default for MaxPool2d {
    /// Windows of 2x2 that do not overlap.
    fn default() -> Self {
        Self {
            kernel: [2, 2],
            stride: [2, 2],
            padding: [0, 0],
            dilation: [1, 1],
        }
    }
}

impl MaxPool2d {
    /// Whether [`max_pool2d`] supports an `f32` tensor of this shape: no dimension is 0, and there is at least
    /// one window.
    pub fn supports(&self, x_shape: &[usize]) -> bool {
        matches!(*x_shape, [n, c, h, w] if n > 0 && c > 0
            && h * w <= i32::MAX as usize
            && self.axes([h, w]).is_some())
    }

    fn axes(&self, image: [usize; 2]) -> Option<[Axis; 2]> {
        let axis = |i: usize| {
            let (kernel, stride) = (self.kernel[i], self.stride[i]);
            Axis::new(image[i], kernel, stride, self.padding[i], self.dilation[i])
        };
        Some([axis(0)?, axis(1)?])
    }
}

/// Max pooling: the maxima and their positions.
///
/// If several pixels are equal to the maximum, the position is that of the first. As in burn-flex and PyTorch, a NaN is the
/// maximum of its window; if there are several, the position is that of the last. A window that lies in the padding has the
/// maximum -∞ at position -1.
///
/// # Shapes
/// `x: [batch, channels, height, width]`; both results are `[batch, channels, oh, ow]`. The indices
/// are `i32`, the position `y * width + x` in the input plane. (burn-flex computes the same numbers as `i64` and casts them
/// to the requested type. Its backward pass and [`max_pool2d_backward`] accept both types.)
///
/// # Panics
/// If [`MaxPool2d::supports`] is false for this shape, or `x` is not `f32`.
pub fn max_pool2d(x: &FlexTensor, options: &MaxPool2d) -> (FlexTensor, FlexTensor) {
    let shape = shape4(x, "max_pool2d input");
    assert!(
        options.supports(&shape),
        "max_pool2d: expected a pooling that `supports` accepts, found {options:?} of {shape:?}; \
         use burn's own for it"
    );
    let [n, c, h, w] = shape;
    let Some(axes) = options.axes([h, w]) else {
        return (x.clone(), x.clone());
    };
    let x = x.to_contiguous();
    let out = [n, c, axes[0].output, axes[1].output];
    let len = out.iter().product();
    let (mut values, mut indices) = (buffers::arbitrary(len), vec![0; len]);
    let x = x.storage::<f32>();
    vectorize(
        #[inline(always)]
        || {
            if *options == MaxPool2d::default() {
                pool_pairs(x, h, w, &mut values, &mut indices);
            } else {
                pool_planes(x, &axes, &mut values, &mut indices);
            }
        },
    );
    (floats(values, &out), ints(indices, &out))
}

/// Max pooling with any windows.
#[inline(always)]
fn pool_planes(x: &[f32], [rows, columns]: &[Axis; 2], values: &mut [f32], indices: &mut [i32]) {
    values.fill(f32::NEG_INFINITY);
    indices.fill(-1);
    let plane = rows.output * columns.output;
    let whole = rows.is_whole() && columns.is_whole();
    let out = values
        .chunks_exact_mut(plane)
        .zip(indices.chunks_exact_mut(plane));
    for (x, (values, indices)) in x.chunks_exact(rows.input * columns.input).zip(out) {
        if whole {
            (values[0], indices[0]) = max_with_index(x);
            continue;
        }
        let out = values
            .chunks_exact_mut(columns.output)
            .zip(indices.chunks_exact_mut(columns.output));
        for (window, (values, indices)) in out.enumerate() {
            for line in rows.pixels(window) {
                let start = line * columns.input;
                for element in &columns.elements {
                    let first = start + element.first;
                    let x = &x[first..start + columns.input];
                    let windows = element.windows.clone();
                    let (values, indices) = (&mut values[windows.clone()], &mut indices[windows]);
                    update_maxima(x, columns.stride, first as i32, values, indices);
                }
            }
        }
    }
}

/// The largest pixel of a plane and its position.
#[inline(always)]
fn max_with_index(x: &[f32]) -> (f32, i32) {
    // The test for a NaN has no early exit, so it is vectorized. Its position is searched only if there is one.
    let any_nan = x.iter().fold(false, |any, x| any | x.is_nan());
    if let Some(index) = any_nan
        .then(|| x.iter().rposition(|x| x.is_nan()))
        .flatten()
    {
        return (x[index], index as i32);
    }
    let max = lanes::max(x);
    let index = x.iter().position(|x| *x == max).unwrap_or(0);
    (x[index], index as i32)
}

/// Updates the maxima of a row of windows with the pixels under one element of the window. `first` is the position of the
/// first pixel.
#[inline(always)]
fn update_maxima(x: &[f32], stride: usize, first: i32, values: &mut [f32], indices: &mut [i32]) {
    let out = values.iter_mut().zip(indices).enumerate();
    strided(x, stride, out, |((i, (value, index)), x)| {
        let is_new_max = exceeds(x, *value) | (*index < 0);
        *value = if is_new_max { x } else { *value };
        let position = first + (i * stride) as i32;
        *index = if is_new_max { position } else { *index };
    });
}

/// Max pooling with windows of 2x2 that do not overlap.
#[inline(always)]
fn pool_pairs(x: &[f32], h: usize, w: usize, values: &mut [f32], indices: &mut [i32]) {
    let (oh, ow) = (h / 2, w / 2);
    let out = values
        .chunks_exact_mut(oh * ow)
        .zip(indices.chunks_exact_mut(oh * ow));
    for (plane, (values, indices)) in x.chunks_exact(h * w).zip(out) {
        let out = values
            .chunks_exact_mut(ow)
            .zip(indices.chunks_exact_mut(ow));
        for (y, (rows, (values, indices))) in plane.chunks_exact(2 * w).zip(out).enumerate() {
            let (upper, lower) = rows.split_at(w);
            let first = (2 * y * w) as i32;
            pool_row(upper, lower, first, w as i32, values, indices);
        }
    }
}

/// Whether a pixel replaces the maximum so far. A NaN always does.
#[inline(always)]
fn exceeds(x: f32, max: f32) -> bool {
    (x > max) | x.is_nan()
}

/// One row of 2x2 windows, from the two lines under it. `first` is the position of the first pixel, and `w` the width of
/// the plane.
#[inline(always)]
fn pool_row(
    upper: &[f32],
    lower: &[f32],
    first: i32,
    w: i32,
    values: &mut [f32],
    indices: &mut [i32],
) {
    let (upper, _) = upper.as_chunks::<2>();
    let (lower, _) = lower.as_chunks::<2>();
    match values.len() {
        16.. => pool_blocks::<16>(upper, lower, first, w, values, indices),
        8.. => pool_blocks::<8>(upper, lower, first, w, values, indices),
        4.. => pool_blocks::<4>(upper, lower, first, w, values, indices),
        _ => pool_blocks::<1>(upper, lower, first, w, values, indices),
    }
}

/// [`pool_row`] for at least `N` windows, in blocks of `N`.
#[inline(always)]
fn pool_blocks<const N: usize>(
    upper: &[[f32; 2]],
    lower: &[[f32; 2]],
    first: i32,
    w: i32,
    values: &mut [f32],
    indices: &mut [i32],
) {
    for start in starts::<N>(values.len()) {
        let pixels = (block::<N, _>(upper, start), block::<N, _>(lower, start));
        let maxima = (
            block_mut::<N, _>(values, start),
            block_mut::<N, _>(indices, start),
        );
        let ((Some(upper), Some(lower)), (Some(values), Some(indices))) = (pixels, maxima) else {
            return;
        };
        for j in 0..N {
            let position = first + 2 * (start + j) as i32;
            let (mut max, mut index) = (upper[j][0], position);
            // These are selects rather than branches, because the compiler turns them into vector blends.
            let is_new_max = exceeds(upper[j][1], max);
            max = if is_new_max { upper[j][1] } else { max };
            index = if is_new_max { position + 1 } else { index };
            let is_new_max = exceeds(lower[j][0], max);
            max = if is_new_max { lower[j][0] } else { max };
            index = if is_new_max { position + w } else { index };
            let is_new_max = exceeds(lower[j][1], max);
            max = if is_new_max { lower[j][1] } else { max };
            index = if is_new_max { position + w + 1 } else { index };
            values[j] = max;
            indices[j] = index;
        }
    }
}

/// Gradient of a max pooling with respect to its input, for any windows. The gradient of each output is added at the
/// position of its maximum. A negative index (a window without pixels) adds nothing.
///
/// # Shapes
/// `grad` and `indices` (`i32` or `i64`): `[batch, channels, oh, ow]`; the result has `x_shape`.
///
/// # Panics
/// If the shapes do not match, or an index is outside the input plane.
pub fn max_pool2d_backward(
    grad: &FlexTensor,
    indices: &FlexTensor,
    x_shape: [usize; 4],
) -> FlexTensor {
    let out = shape4(grad, "max_pool2d output gradient");
    let found = shape4(indices, "max_pool2d indices");
    assert!(
        out == found && out[..2] == x_shape[..2],
        "max_pool2d_backward: expected gradient and indices of one shape for input {x_shape:?}, \
         found {out:?} and {found:?}"
    );
    let (grad, indices) = (grad.to_contiguous(), indices.to_contiguous());
    let mut x = buffers::arbitrary(x_shape.iter().product());
    let planes = ((out[2] * out[3]).max(1), (x_shape[2] * x_shape[3]).max(1));
    match indices.dtype() {
        DType::I64 => scatter(grad.storage(), indices.storage::<i64>(), planes, &mut x),
        _ => scatter(grad.storage(), indices.storage::<i32>(), planes, &mut x),
    }
    floats(x, &x_shape)
}

/// The number of values that are cleared at a time (16 KiB). They are few enough to be in the first-level cache still when
/// gradients are added to them, and so many that the stores of the zeros have completed.
const CLEARED: usize = 1 << 12;

/// Adds each gradient to `x` at its index. `out_plane` and `x_plane` are the numbers of values of a plane of the outputs
/// and of `x`.
fn scatter<I: Copy + TryInto<usize>>(
    grad: &[f32],
    indices: &[I],
    (out_plane, x_plane): (usize, usize),
    x: &mut [f32],
) {
    let grads = grad.chunks_exact(out_plane);
    let mut grads = grads.zip(indices.chunks_exact(out_plane));
    for x in x.chunks_mut((CLEARED / x_plane).max(1) * x_plane) {
        x.fill(0.0);
        for (x, (grad, indices)) in x.chunks_exact_mut(x_plane).zip(&mut grads) {
            for (value, &index) in grad.iter().zip(indices) {
                if let Ok(index) = index.try_into() {
                    x[index] += value;
                }
            }
        }
    }
}

//! Average pooling and its gradient.

use burn_flex::FlexTensor;

use super::axis::{Axis, strided};
use crate::buffers;
use crate::flex::{floats, shape4};
use crate::lanes;
use crate::simd::vectorize;

/// Options of a two-dimensional average pooling, in the order height, width. The size of the output is
/// rounded down (burn's `ceil_mode = false`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AvgPool2d {
    /// The size of a window.
    pub kernel: [usize; 2],
    /// Input pixels between neighbouring windows.
    pub stride: [usize; 2],
    /// Zero pixels outside the image on both sides.
    pub padding: [usize; 2],
    /// Whether the mean of a window counts its padding as zeros.
    pub count_include_pad: bool,
}

impl AvgPool2d {
    /// Whether [`avg_pool2d`] supports an `f32` tensor of this shape: no dimension is 0, and there is at least
    /// one window.
    pub fn supports(&self, x_shape: &[usize]) -> bool {
        matches!(*x_shape, [n, c, h, w] if n > 0 && c > 0 && self.axes([h, w]).is_some())
    }

    fn axes(&self, image: [usize; 2]) -> Option<[Axis; 2]> {
        let axis = |i: usize| {
            let (kernel, stride) = (self.kernel[i], self.stride[i]);
            Axis::new(image[i], kernel, stride, self.padding[i], 1)
        };
        Some([axis(0)?, axis(1)?])
    }

    /// Computes what all planes of images of this size share.
    fn plan(&self, x_shape: [usize; 4]) -> Option<Plan> {
        assert!(
            self.supports(&x_shape),
            "avg_pool2d: expected a pooling that `supports` accepts, found {self:?} of {x_shape:?}; \
             use burn's own for it"
        );
        let axes = self.axes([x_shape[2], x_shape[3]])?;
        let pixels = |i: usize| -> Vec<f32> {
            let count = |window| {
                if self.count_include_pad {
                    self.kernel[i]
                } else {
                    axes[i].pixels(window).count()
                }
            };
            (0..axes[i].output)
                .map(|window| count(window) as f32)
                .collect()
        };
        Some(Plan {
            whole: axes.iter().all(Axis::is_whole),
            pixels: [pixels(0), pixels(1)],
            axes,
        })
    }
}

/// An average pooling of planes of one size.
struct Plan {
    axes: [Axis; 2],
    /// The number of pixels in the mean of each window, along each axis.
    pixels: [Vec<f32>; 2],
    /// Whether the only window is the whole plane.
    whole: bool,
}

/// Average pooling: the mean of each window.
///
/// # Shapes
/// `x: [batch, channels, height, width]`; the result is `[batch, channels, oh, ow]`. All `f32`.
///
/// # Panics
/// If [`AvgPool2d::supports`] is false for this shape, or `x` is not `f32`.
pub fn avg_pool2d(x: &FlexTensor, options: &AvgPool2d) -> FlexTensor {
    let shape @ [n, c, h, w] = shape4(x, "avg_pool2d input");
    let Some(plan) = options.plan(shape) else {
        return x.clone();
    };
    let out = [n, c, plan.axes[0].output, plan.axes[1].output];
    let mut y = buffers::zeros(out.iter().product());
    let x = x.to_contiguous();
    let planes = x.storage::<f32>().chunks_exact(h * w);
    vectorize(
        #[inline(always)]
        || {
            for (x, y) in planes.zip(y.chunks_exact_mut(out[2] * out[3])) {
                plan.average(x, y);
            }
        },
    );
    floats(y, &out)
}

/// Gradient of [`avg_pool2d`] with respect to its input.
///
/// # Shapes
/// `grad: [batch, channels, oh, ow]`; the result has `x_shape`. All `f32`.
///
/// # Panics
/// If [`AvgPool2d::supports`] is false for this shape, or `grad` does not have the output's.
pub fn avg_pool2d_backward(
    grad: &FlexTensor,
    x_shape: [usize; 4],
    options: &AvgPool2d,
) -> FlexTensor {
    let [n, c, h, w] = x_shape;
    let Some(plan) = options.plan(x_shape) else {
        return grad.clone();
    };
    let expected = [n, c, plan.axes[0].output, plan.axes[1].output];
    let found = shape4(grad, "avg_pool2d output gradient");
    assert!(
        found == expected,
        "avg_pool2d output gradient: expected shape {expected:?}, found {found:?}"
    );
    let grad = grad.to_contiguous();
    let grads = grad
        .storage::<f32>()
        .chunks_exact(expected[2] * expected[3]);
    let mut x = buffers::zeros(x_shape.iter().product());
    let mut row = vec![0.0; expected[3]];
    vectorize(
        #[inline(always)]
        || {
            for (grad, x) in grads.zip(x.chunks_exact_mut(h * w)) {
                plan.average_backward(grad, &mut row, x);
            }
        },
    );
    floats(x, &x_shape)
}

impl Plan {
    /// Writes the means of the windows of a plane.
    #[inline(always)]
    fn average(&self, x: &[f32], y: &mut [f32]) {
        let [rows, columns] = &self.axes;
        if self.whole {
            y[0] = lanes::sum::<16>(x) / x.len() as f32;
            return;
        }
        for (window, y) in y.chunks_exact_mut(columns.output).enumerate() {
            for line in rows.pixels(window) {
                let x = &x[line * columns.input..][..columns.input];
                for element in &columns.elements {
                    let y = &mut y[element.windows.clone()];
                    let x = &x[element.first..];
                    strided(x, columns.stride, y.iter_mut(), |(y, x)| *y += x);
                }
            }
            for (y, pixels) in y.iter_mut().zip(&self.pixels[1]) {
                *y /= (pixels * self.pixels[0][window]).max(1.0);
            }
        }
    }

    /// Adds to each pixel of a plane its share of the gradients of the windows that contain it. `row` is a buffer for one
    /// row of windows.
    #[inline(always)]
    fn average_backward(&self, grad: &[f32], row: &mut [f32], x: &mut [f32]) {
        let [rows, columns] = &self.axes;
        if self.whole {
            x.fill(grad[0] / x.len() as f32);
            return;
        }
        for (window, grad) in grad.chunks_exact(columns.output).enumerate() {
            for ((share, grad), pixels) in row.iter_mut().zip(grad).zip(&self.pixels[1]) {
                *share = grad / (pixels * self.pixels[0][window]).max(1.0);
            }
            for line in rows.pixels(window) {
                let x = &mut x[line * columns.input..][..columns.input];
                for element in &columns.elements {
                    let x = &mut x[element.first..];
                    let shares = &row[element.windows.clone()];
                    if columns.stride == 1 {
                        for (x, share) in x.iter_mut().zip(shares) {
                            *x += share;
                        }
                    } else {
                        for (x, share) in x.iter_mut().step_by(columns.stride).zip(shares) {
                            *x += share;
                        }
                    }
                }
            }
        }
    }
}

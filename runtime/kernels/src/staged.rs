//! The staged image of a convolution: a copy with padding, divided into planes by the stride.
//!
//! With a stride of 2, neighbouring output pixels read every second pixel of the image. The staged image therefore has
//! one plane for each remainder of the row by the vertical stride `sy` and of the column by the horizontal stride `sx`:
//! `[channels][sy][sx][height / sy][width / sx]`, rounded up. Neighbouring output pixels read neighbouring values of a
//! plane, just as they read neighbouring pixels of the image if the stride is 1.
//!
//! If the horizontal stride is 1, the padding on the right of a line is also the padding on the left of the next line.
//! Lines are then shorter, so a row of the im2col matrix, which goes over all lines of a plane, has fewer surplus pixels.

use std::ops::Range;

use crate::lines;
use crate::shape::Sizes;
use crate::tile::LANES;

/// The height and the width of a plane.
pub(crate) fn plane(sizes: &Sizes) -> [usize; 2] {
    let [height, width] = [0, 1].map(|axis| sizes.padded[axis].div_ceil(sizes.stride[axis]));
    match sizes.stride[1] {
        // A line must not be shorter than a line of the output: with a 1x1 kernel, there are output pixels for the
        // padding alone.
        1 => [height, (width - sizes.padding[1]).max(sizes.output[1])],
        _ => [height, width],
    }
}

/// The number of values of the staged image, with the padding on the right of its last line, and with values for the last
/// row of the im2col matrix, which may read past the image.
pub(crate) fn staged_len(sizes: &Sizes) -> usize {
    let ([height, width], [sy, sx]) = (plane(sizes), sizes.stride);
    sizes.channels * sy * sx * height * width + sizes.padding[1] + LANES
}

/// The offset in the staged image of the first pixel of each row `(c, ky, kx)` of the im2col matrix.
pub(crate) fn tap_offsets(sizes: &Sizes) -> Vec<usize> {
    let ([height, width], [sy, sx]) = (plane(sizes), sizes.stride);
    let ([kh, kw], [dy, dx]) = (sizes.kernel, sizes.dilation);
    let mut offsets = Vec::with_capacity(sizes.taps());
    for c in 0..sizes.channels {
        for y in (0..kh).map(|ky| ky * dy) {
            let planes = (c * sy + y % sy) * sx;
            let row = |x: usize| ((planes + x % sx) * height + y / sy) * width;
            offsets.extend((0..kw).map(|kx| row(kx * dx) + kx * dx / sx));
        }
    }
    offsets
}

/// Copies one image to the staged form, with zeros in the padding.
pub(crate) fn stage(sizes: &Sizes, x: &[f32], staged: &mut [f32]) {
    if is_plain(sizes) {
        staged[..x.len()].copy_from_slice(x);
        staged[x.len()..].fill(0.0);
        return;
    }
    staged.fill(0.0);
    each_line(sizes, |line, row, columns| {
        let (from, into) = (&x[line], &mut staged[row]);
        if sizes.stride[1] == 1 {
            lines::copy(from, &mut into[columns.plane_column..][..from.len()]);
        } else {
            let from = from[columns.image_column..].iter();
            let from = from.step_by(sizes.stride[1]);
            for (into, value) in into[columns.plane_column..].iter_mut().zip(from) {
                *into = *value;
            }
        }
    });
}

/// Copies a staged image to `x`, without its padding. Pixels that no tap reads become zero.
pub(crate) fn unstage(sizes: &Sizes, staged: &[f32], x: &mut [f32]) {
    if is_plain(sizes) {
        x.copy_from_slice(&staged[..x.len()]);
        return;
    }
    let reads_all = |axis: usize| (0..sizes.stride[axis]).all(|r| is_read(sizes, axis, r));
    if !reads_all(0) || !reads_all(1) {
        x.fill(0.0);
    }
    each_line(sizes, |line, row, columns| {
        let (into, from) = (&mut x[line], &staged[row]);
        if sizes.stride[1] == 1 {
            lines::copy(&from[columns.plane_column..], into);
        } else {
            let into = into[columns.image_column..].iter_mut();
            let from = &from[columns.plane_column..];
            for (into, value) in into.step_by(sizes.stride[1]).zip(from) {
                *into = *value;
            }
        }
    });
}

/// Whether the staged image is the image itself.
fn is_plain(sizes: &Sizes) -> bool {
    sizes.padding == [0, 0] && sizes.stride == [1, 1]
}

/// Whether some tap of the kernel reads the pixels of this remainder along an axis.
fn is_read(sizes: &Sizes, axis: usize, remainder: usize) -> bool {
    let mut taps = (0..sizes.kernel[axis]).map(|k| k * sizes.dilation[axis]);
    taps.any(|tap| tap % sizes.stride[axis] == remainder)
}

/// The columns of a line with one remainder by the horizontal stride, which are in one plane.
struct Columns {
    remainder: usize,
    /// The first of these columns in the image.
    image_column: usize,
    /// The column of the plane to which it is copied.
    plane_column: usize,
}

/// Calls `f(line, row, columns)` for every line of the image and every remainder of its columns that the kernel reads.
/// `line` is the range of the line in the image, and `row` that of a row of a plane in the staged image.
fn each_line(sizes: &Sizes, mut f: impl FnMut(Range<usize>, Range<usize>, &Columns)) {
    let ([height, width], [sy, sx]) = (plane(sizes), sizes.stride);
    let ([top, left], [lines, pixels]) = (sizes.padding, sizes.image);
    let remainders = (0..sx).filter(|remainder| is_read(sizes, 1, *remainder));
    let columns = remainders.map(|remainder| {
        let image_column = (remainder + sx - left % sx) % sx;
        Columns {
            remainder,
            image_column,
            plane_column: (left + image_column) / sx,
        }
    });
    let columns = columns.filter(|columns| columns.image_column < pixels);
    let columns: Vec<Columns> = columns.collect();
    let rows: Vec<usize> = (0..lines)
        .filter(|y| is_read(sizes, 0, (top + y) % sy))
        .collect();
    for c in 0..sizes.channels {
        for &y in &rows {
            let line = (c * lines + y) * pixels;
            let planes = (c * sy + (top + y) % sy) * sx;
            for columns in &columns {
                let row = ((planes + columns.remainder) * height + (top + y) / sy) * width;
                f(line..line + pixels, row..row + width, columns);
            }
        }
    }
}

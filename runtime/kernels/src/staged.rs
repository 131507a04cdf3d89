//! The staged image of a convolution: with its padding, and divided into planes.
//!
//! With a stride of 2, neighbouring pixels of an output read every second pixel of the image. The pixels whose row
//! has the same remainder by the vertical stride `sy`, and whose column has the same remainder by the horizontal
//! stride `sx`, are therefore a plane of their own: `[channels][sy][sx][height / sy][width / sx]`, rounded up.
//! Neighbouring output pixels read neighbouring values of a plane, as they read neighbouring pixels of the image
//! where the stride is 1.
//!
//! There, the padding on the right of a row is the padding on the left of the next one. Rows of the im2col matrix go
//! over all rows of a plane, and compute fewer values that nobody needs if these are shorter.

use std::ops::Range;

use crate::lines;
use crate::shape::Sizes;
use crate::tile::LANES;

/// Height and width of a plane.
pub(crate) fn plane(sizes: &Sizes) -> [usize; 2] {
    let [height, width] = [0, 1].map(|axis| sizes.padded[axis].div_ceil(sizes.stride[axis]));
    match sizes.stride[1] {
        // Not shorter than a row of the output: with a 1x1 kernel, the padding has output pixels of its own.
        1 => [height, (width - sizes.padding[1]).max(sizes.output[1])],
        _ => [height, width],
    }
}

/// Values of the staged image, with the padding on the right of its last row, and room for the last row of the im2col
/// matrix, which may read past the image.
pub(crate) fn staged_len(sizes: &Sizes) -> usize {
    let ([height, width], [sy, sx]) = (plane(sizes), sizes.stride);
    sizes.channels * sy * sx * height * width + sizes.padding[1] + LANES
}

/// For every row `(c, ky, kx)` of the im2col matrix, the place of the first pixel's value.
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

/// Stages one image.
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
            lines::copy(from, &mut into[columns.into..][..from.len()]);
        } else {
            let from = from[columns.first..].iter().step_by(sizes.stride[1]);
            for (into, value) in into[columns.into..].iter_mut().zip(from) {
                *into = *value;
            }
        }
    });
}

/// Copies a staged image, without its padding, to `x`.
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
            lines::copy(&from[columns.into..], into);
        } else {
            let into = into[columns.first..].iter_mut();
            for (into, value) in into.step_by(sizes.stride[1]).zip(&from[columns.into..]) {
                *into = *value;
            }
        }
    });
}

/// Whether the staged image is the image itself.
fn is_plain(sizes: &Sizes) -> bool {
    sizes.padding == [0, 0] && sizes.stride == [1, 1]
}

/// Whether a kernel reads pixels of this remainder.
fn is_read(sizes: &Sizes, axis: usize, remainder: usize) -> bool {
    let mut taps = (0..sizes.kernel[axis]).map(|k| k * sizes.dilation[axis]);
    taps.any(|tap| tap % sizes.stride[axis] == remainder)
}

/// The columns of a line that are of one remainder.
struct Columns {
    remainder: usize,
    /// The first of them in the line of the image.
    first: usize,
    /// Its place in the row of the plane.
    into: usize,
}

/// Calls `f(values of a line of the image, values of the row of a plane, columns)` for every line and every
/// remainder of its columns that a kernel reads.
fn each_line(sizes: &Sizes, mut f: impl FnMut(Range<usize>, Range<usize>, &Columns)) {
    let ([height, width], [sy, sx]) = (plane(sizes), sizes.stride);
    let ([top, left], [lines, pixels]) = (sizes.padding, sizes.image);
    let read = (0..sx).filter(|remainder| is_read(sizes, 1, *remainder));
    let columns = read.map(|remainder| {
        let first = (remainder + sx - left % sx) % sx;
        Columns {
            remainder,
            first,
            into: (left + first) / sx,
        }
    });
    let columns: Vec<Columns> = columns.filter(|columns| columns.first < pixels).collect();
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

//! The two ways of reading the rows of the im2col matrix from a staged image.

use crate::scratch::room;
use crate::shape::Sizes;
use crate::tile::LANES;

/// The form of the rows of the im2col matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// They are shifted views of the staged image.
    Shifted,
    /// They are copied, `[taps][len]`.
    Columns,
}

/// One way of reading the im2col matrix.
pub(crate) struct Im2col {
    /// The form of the rows.
    pub form: Form,
    /// Distance between output rows in a matrix row.
    pub pitch: usize,
    /// Length of a matrix row, a multiple of [`LANES`].
    pub len: usize,
    /// The start of row `(c, ky, kx)`.
    pub offsets: Vec<usize>,
}

impl Im2col {
    /// The cheaper form for the output and the input gradient.
    pub fn for_rows(sizes: &Sizes) -> Self {
        Self::choose(sizes, ROWS_SURPLUS)
    }

    /// The cheaper form for the weight gradient.
    pub fn for_dots(sizes: &Sizes) -> Self {
        Self::choose(sizes, DOTS_SURPLUS)
    }

    /// Shifted rows compute surplus pixels. Copied rows are written and read once more.
    fn choose(sizes: &Sizes, surplus_percent: usize) -> Self {
        let shifted = Self::shifted_len(sizes) * 100;
        if sizes.stride == [1, 1] && shifted <= round_up(sizes.pixels()) * surplus_percent {
            Self::shifted(sizes)
        } else {
            Self::columns(sizes)
        }
    }

    fn shifted_len(sizes: &Sizes) -> usize {
        round_up((sizes.output[0] - 1) * sizes.padded[1] + sizes.output[1])
    }

    /// Rows that are views of the image (stride 1 only).
    pub fn shifted(sizes: &Sizes) -> Self {
        let pitch = sizes.padded[1];
        let plane = sizes.padded[0] * pitch;
        let mut offsets = Vec::with_capacity(sizes.taps());
        for c in 0..sizes.channels {
            for ky in 0..sizes.kernel[0] {
                let row = c * plane + ky * sizes.dilation[0] * pitch;
                offsets.extend((0..sizes.kernel[1]).map(|kx| row + kx * sizes.dilation[1]));
            }
        }
        Self {
            form: Form::Shifted,
            pitch,
            len: Self::shifted_len(sizes),
            offsets,
        }
    }

    /// Rows that are copied.
    pub fn columns(sizes: &Sizes) -> Self {
        let len = round_up(sizes.pixels());
        Self {
            form: Form::Columns,
            pitch: sizes.output[1],
            len,
            offsets: (0..sizes.taps()).map(|k| k * len).collect(),
        }
    }

    /// Values of a buffer that holds the rows.
    pub fn rows_len(&self, sizes: &Sizes) -> usize {
        match self.form {
            Form::Shifted => staged_len(sizes),
            Form::Columns => self.offsets.len() * self.len,
        }
    }

    /// Copies one image into `rows` ([`Self::rows_len`] values) in this form. `image` is a buffer for the
    /// padded image, if the form needs one.
    pub fn stage(&self, sizes: &Sizes, x: &[f32], image: &mut Vec<f32>, rows: &mut [f32]) {
        match self.form {
            Form::Shifted => pad(sizes, x, rows),
            Form::Columns => {
                let image = room(image, staged_len(sizes));
                pad(sizes, x, image);
                im2col(sizes, image, self.len, rows);
            }
        }
    }

    /// Whether an image already has the form of the rows, and so has an output: those of a 1x1 kernel that
    /// visits each pixel.
    pub fn takes_plain_image(&self, sizes: &Sizes) -> bool {
        let each_pixel = sizes.kernel == [1, 1] && sizes.padding == [0, 0];
        each_pixel && self.form == Form::Shifted && self.len == sizes.pixels()
    }

    /// Whether an output gradient already has the form of the rows.
    pub fn takes_plain_grad(&self, sizes: &Sizes) -> bool {
        self.pitch == sizes.output[1] && self.len == sizes.pixels()
    }

    /// Copies one output gradient (`[filters][pixels]`) into `rows` (`[filters][len]`), with zeros where there
    /// is no output pixel.
    pub fn stage_grad(&self, sizes: &Sizes, grad: &[f32], rows: &mut [f32]) {
        let width = sizes.output[1];
        let grads = grad.chunks_exact(sizes.pixels());
        for (row, grad) in rows.chunks_exact_mut(self.len).zip(grads) {
            let mut end = 0;
            for (y, line) in grad.chunks_exact(width).enumerate() {
                let start = y * self.pitch;
                row[end..start].fill(0.0);
                end = start + width;
                copy_short(line, &mut row[start..end]);
            }
            row[end..].fill(0.0);
        }
    }
}

/// The largest length of a shifted row, in percent of a copied one, for sums of rows.
const ROWS_SURPLUS: usize = 140;

/// The same for dot products. They gain from having the rows of several images in the cache at once, and
/// copied rows take too much room for that.
const DOTS_SURPLUS: usize = 200;

/// The next multiple of [`LANES`].
pub(crate) fn round_up(len: usize) -> usize {
    len.next_multiple_of(LANES)
}

/// Values of the staged image, with room for the last row of the matrix, which may read past the image.
pub(crate) fn staged_len(sizes: &Sizes) -> usize {
    sizes.channels * sizes.padded[0] * sizes.padded[1] + LANES
}

/// Copies one image into the middle of its padded form.
fn pad(sizes: &Sizes, x: &[f32], image: &mut [f32]) {
    let [height, width] = sizes.padded;
    if sizes.padding == [0, 0] {
        image[..x.len()].copy_from_slice(x);
        image[x.len()..].fill(0.0);
        return;
    }
    image.fill(0.0);
    let [top, left] = sizes.padding;
    let planes = x.chunks_exact(sizes.image[0] * sizes.image[1]);
    for (plane, padded) in planes.zip(image.chunks_exact_mut(height * width)) {
        let rows = padded.chunks_exact_mut(width).skip(top);
        for (line, row) in plane.chunks_exact(sizes.image[1]).zip(rows) {
            row[left..left + line.len()].copy_from_slice(line);
        }
    }
}

/// Copies the middle of a padded image to `x`.
pub(crate) fn crop(sizes: &Sizes, image: &[f32], x: &mut [f32]) {
    if sizes.padding == [0, 0] {
        x.copy_from_slice(&image[..x.len()]);
        return;
    }
    let [height, width] = sizes.padded;
    let [top, left] = sizes.padding;
    let planes = x.chunks_exact_mut(sizes.image[0] * sizes.image[1]);
    for (padded, plane) in image.chunks_exact(height * width).zip(planes) {
        let rows = padded.chunks_exact(width).skip(top);
        for (row, line) in rows.zip(plane.chunks_exact_mut(sizes.image[1])) {
            line.copy_from_slice(&row[left..left + line.len()]);
        }
    }
}

/// Copies the rows `[taps][len]` from a padded image. Values past the last pixel are zero.
fn im2col(sizes: &Sizes, image: &[f32], len: usize, columns: &mut [f32]) {
    let [_, width] = sizes.output;
    let [sy, sx] = sizes.stride;
    each_tap(sizes, |k, start| {
        let row = &mut columns[k * len..(k + 1) * len];
        let (pixels, surplus) = row.split_at_mut(sizes.pixels());
        surplus.fill(0.0);
        for (y, line) in pixels.chunks_exact_mut(width).enumerate() {
            let from = &image[start + y * sy * sizes.padded[1]..];
            if sx == 1 {
                copy_short(&from[..width], line);
            } else {
                for (value, from) in line.iter_mut().zip(from.iter().step_by(sx)) {
                    *value = *from;
                }
            }
        }
    });
}

/// Adds the rows `[taps][len]` to the pixels of a padded image that they were read from.
pub(crate) fn col2im(sizes: &Sizes, columns: &[f32], len: usize, image: &mut [f32]) {
    let [_, width] = sizes.output;
    let [sy, sx] = sizes.stride;
    each_tap(sizes, |k, start| {
        let pixels = &columns[k * len..][..sizes.pixels()];
        for (y, line) in pixels.chunks_exact(width).enumerate() {
            let into = &mut image[start + y * sy * sizes.padded[1]..];
            if sx == 1 {
                for (into, value) in into[..width].iter_mut().zip(line) {
                    *into += value;
                }
            } else {
                for (into, value) in into.iter_mut().step_by(sx).zip(line) {
                    *into += value;
                }
            }
        }
    });
}

/// Calls `f(row, first pixel)` for every row of the im2col matrix.
fn each_tap(sizes: &Sizes, mut f: impl FnMut(usize, usize)) {
    let ([kh, kw], [dy, dx]) = (sizes.kernel, sizes.dilation);
    let plane = sizes.padded[0] * sizes.padded[1];
    let mut k = 0;
    for c in 0..sizes.channels {
        for ky in 0..kh {
            for kx in 0..kw {
                f(k, c * plane + ky * dy * sizes.padded[1] + kx * dx);
                k += 1;
            }
        }
    }
}

/// A copy without a call of `memcpy`, which would cost more than copying ten pixels.
#[inline(always)]
fn copy_short(from: &[f32], to: &mut [f32]) {
    let (a, a_rest) = from.as_chunks::<4>();
    let (b, b_rest) = to.as_chunks_mut::<4>();
    for (a, b) in a.iter().zip(b) {
        *b = *a;
    }
    for (a, b) in a_rest.iter().zip(b_rest) {
        *b = *a;
    }
}

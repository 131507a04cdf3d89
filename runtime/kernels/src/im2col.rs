//! The two ways of reading the rows of the im2col matrix from a staged image.

use crate::lines;
use crate::scratch::room;
use crate::shape::Sizes;
use crate::simd::vectorize;
use crate::staged::{plane, stage, staged_len, tap_offsets};
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
    /// The place of its first pixel in the staged image, from which rows are copied.
    taps: Vec<usize>,
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
        if shifted <= round_up(sizes.pixels()) * surplus_percent {
            Self::shifted(sizes)
        } else {
            Self::columns(sizes)
        }
    }

    fn shifted_len(sizes: &Sizes) -> usize {
        round_up((sizes.output[0] - 1) * plane(sizes)[1] + sizes.output[1])
    }

    /// Rows that are views of the image.
    pub fn shifted(sizes: &Sizes) -> Self {
        Self {
            form: Form::Shifted,
            pitch: plane(sizes)[1],
            len: Self::shifted_len(sizes),
            offsets: tap_offsets(sizes),
            taps: vec![],
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
            taps: tap_offsets(sizes),
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
    /// staged image, if the form needs one.
    pub fn stage(&self, sizes: &Sizes, x: &[f32], image: &mut Vec<f32>, rows: &mut [f32]) {
        match self.form {
            Form::Shifted => stage(sizes, x, rows),
            Form::Columns => {
                let image = room(image, staged_len(sizes));
                stage(sizes, x, image);
                self.copy_rows(sizes, image, rows);
            }
        }
    }

    /// Copies the rows `[taps][len]` from a staged image. Values past the last pixel are zero.
    fn copy_rows(&self, sizes: &Sizes, image: &[f32], rows: &mut [f32]) {
        let (width, pitch) = (sizes.output[1], plane(sizes)[1]);
        vectorize(
            #[inline(always)]
            || {
                for (row, start) in rows.chunks_exact_mut(self.len).zip(&self.taps) {
                    let (pixels, surplus) = row.split_at_mut(sizes.pixels());
                    surplus.fill(0.0);
                    let lines = pixels.chunks_exact_mut(width);
                    for (line, from) in lines.zip(image[*start..].chunks(pitch)) {
                        lines::copy(from, line);
                    }
                }
            },
        );
    }

    /// Adds the rows `[taps][len]` to the pixels of a staged image that they were copied from.
    pub fn add_rows(&self, sizes: &Sizes, rows: &[f32], image: &mut [f32]) {
        let (width, pitch) = (sizes.output[1], plane(sizes)[1]);
        for (row, start) in rows.chunks_exact(self.len).zip(&self.taps) {
            let lines = row[..sizes.pixels()].chunks_exact(width);
            for (line, into) in lines.zip(image[*start..].chunks_mut(pitch)) {
                for (into, value) in into.iter_mut().zip(line) {
                    *into += value;
                }
            }
        }
    }

    /// Whether an image already has the form of the rows, and so has an output: those of a 1x1 kernel that
    /// visits each pixel.
    pub fn takes_plain_image(&self, sizes: &Sizes) -> bool {
        let each_pixel =
            sizes.kernel == [1, 1] && sizes.stride == [1, 1] && sizes.padding == [0, 0];
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
        vectorize(
            #[inline(always)]
            || {
                for (row, grad) in rows.chunks_exact_mut(self.len).zip(grads) {
                    let mut end = 0;
                    for (y, line) in grad.chunks_exact(width).enumerate() {
                        let start = y * self.pitch;
                        row[end..start].fill(0.0);
                        end = start + width;
                        lines::copy(line, &mut row[start..end]);
                    }
                    row[end..].fill(0.0);
                }
            },
        );
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

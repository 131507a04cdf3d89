//! The im2col matrix of an image, `[taps][output pixels]`, in one of two forms: rows are shifted views of the staged
//! image, or copies.

use crate::lines;
use crate::scratch::room;
use crate::shape::Sizes;
use crate::simd::vectorize;
use crate::staged::{plane, stage, staged_len, tap_offsets};
use crate::tile::LANES;

/// The form of the rows of the im2col matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Each row is a view of the staged image, shifted by its tap. Rows have surplus pixels between the lines of the
    /// output.
    Shifted,
    /// Each row is a copy without surplus pixels, `[taps][len]`.
    Columns,
}

/// The layout of the im2col matrix of a convolution.
pub(crate) struct Im2col {
    /// The form of the rows.
    pub form: Form,
    /// The distance between the lines of the output within a row.
    pub pitch: usize,
    /// The length of a row, a multiple of [`LANES`].
    pub len: usize,
    /// The start of each row `(c, ky, kx)`: in the staged image, or in the copied rows.
    pub offsets: Vec<usize>,
    /// The offset of the first pixel of each row in the staged image, from which rows are copied. Empty in the shifted
    /// form.
    tap_offsets: Vec<usize>,
}

impl Im2col {
    /// The cheaper form for the output and the input gradient.
    pub fn for_rows(sizes: &Sizes) -> Self {
        Self::choose(sizes, MAX_PERCENT_FOR_ROWS)
    }

    /// The cheaper form for the weight gradient.
    pub fn for_dots(sizes: &Sizes) -> Self {
        Self::choose(sizes, MAX_PERCENT_FOR_DOTS)
    }

    /// Chooses the shifted form if its rows have at most `max_percent` of the length of copied rows. Surplus pixels cost
    /// computation, and copies cost memory traffic.
    fn choose(sizes: &Sizes, max_percent: usize) -> Self {
        let shifted = Self::shifted_len(sizes) * 100;
        if shifted <= round_up(sizes.pixels()) * max_percent {
            Self::shifted(sizes)
        } else {
            Self::columns(sizes)
        }
    }

    /// The length of a row in the shifted form.
    fn shifted_len(sizes: &Sizes) -> usize {
        round_up((sizes.output[0] - 1) * plane(sizes)[1] + sizes.output[1])
    }

    /// The shifted form.
    pub fn shifted(sizes: &Sizes) -> Self {
        Self {
            form: Form::Shifted,
            pitch: plane(sizes)[1],
            len: Self::shifted_len(sizes),
            offsets: tap_offsets(sizes),
            tap_offsets: vec![],
        }
    }

    /// The form with copied rows.
    pub fn columns(sizes: &Sizes) -> Self {
        let len = round_up(sizes.pixels());
        Self {
            form: Form::Columns,
            pitch: sizes.output[1],
            len,
            offsets: (0..sizes.taps()).map(|k| k * len).collect(),
            tap_offsets: tap_offsets(sizes),
        }
    }

    /// The number of values of a buffer for the rows of one image.
    pub fn rows_len(&self, sizes: &Sizes) -> usize {
        match self.form {
            Form::Shifted => staged_len(sizes),
            Form::Columns => self.offsets.len() * self.len,
        }
    }

    /// Writes the rows of one image to `rows` ([`Self::rows_len`] values). `image` is scratch for the staged image, which
    /// only the columns form uses.
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

    /// Copies the rows `[taps][len]` from a staged image. The values past the last pixel of a row are zero.
    fn copy_rows(&self, sizes: &Sizes, image: &[f32], rows: &mut [f32]) {
        let (width, pitch) = (sizes.output[1], plane(sizes)[1]);
        vectorize(
            #[inline(always)]
            || {
                for (row, start) in rows.chunks_exact_mut(self.len).zip(&self.tap_offsets) {
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

    /// Adds the rows `[taps][len]` to the pixels of the staged image from which [`Self::copy_rows`] copies them.
    pub fn add_rows(&self, sizes: &Sizes, rows: &[f32], image: &mut [f32]) {
        let (width, pitch) = (sizes.output[1], plane(sizes)[1]);
        for (row, start) in rows.chunks_exact(self.len).zip(&self.tap_offsets) {
            let lines = row[..sizes.pixels()].chunks_exact(width);
            for (line, into) in lines.zip(image[*start..].chunks_mut(pitch)) {
                for (into, value) in into.iter_mut().zip(line) {
                    *into += value;
                }
            }
        }
    }

    /// Whether the image itself is the im2col matrix, and the output needs no copy either. That is so for a 1x1 kernel
    /// without stride and padding, over images whose number of pixels is a multiple of [`LANES`].
    pub fn reads_image_in_place(&self, sizes: &Sizes) -> bool {
        let visits_each_pixel =
            sizes.kernel == [1, 1] && sizes.stride == [1, 1] && sizes.padding == [0, 0];
        visits_each_pixel && self.form == Form::Shifted && self.len == sizes.pixels()
    }

    /// Whether an output gradient already has the layout of the rows, without surplus pixels.
    pub fn reads_grad_in_place(&self, sizes: &Sizes) -> bool {
        self.pitch == sizes.output[1] && self.len == sizes.pixels()
    }

    /// Copies an output gradient `[filters][pixels]` to `rows`, `[filters][len]`, on the pitch of this form. The surplus
    /// pixels become zero.
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

/// The largest length of a shifted row, in percent of a copied one, for the output and the input gradient.
const MAX_PERCENT_FOR_ROWS: usize = 140;

/// The same for the weight gradient. Its dot products gain from having the rows of several images in the cache at once,
/// and copied rows take too much memory for that.
const MAX_PERCENT_FOR_DOTS: usize = 200;

/// The next multiple of [`LANES`].
pub(crate) fn round_up(len: usize) -> usize {
    len.next_multiple_of(LANES)
}

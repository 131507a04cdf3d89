//! The two passes that multiply tiles with filters at each position: the output, and the gradient of the input.

use std::ops::Range;

use super::filters::FilterLayout;
use super::tiles::Tiles;

/// The output, or the gradient of the input.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    /// The use of the filters, which also says which of the two passes it is.
    pub filters: FilterLayout,
    /// The tiles that are read.
    pub from: Tiles,
    /// The tiles that are written.
    pub to: Tiles,
}

impl Pass {
    /// Transforms the rows `band` of tiles. The rows of all images are numbered one after another. `into` is the transformed
    /// tiles and the distance between their positions, and `lines` is scratch.
    pub fn read(
        &self,
        x: &[&[f32]],
        band: Range<usize>,
        lines: &mut [f32],
        into: (&mut [f32], usize),
    ) {
        match self.filters {
            FilterLayout::Plain => self.from.inputs(x, band, lines, into),
            FilterLayout::Transposed => self.from.output_grads(x, band, lines, into),
        }
    }

    /// Transforms the sums of the rows `band` of tiles back, and writes them to `y`. `stride` is the distance between the
    /// positions of the sums. In the gradient of the input, a row of tiles shares its last lines with the next row, which may
    /// be in another band. `lines` keeps them from call to call.
    pub fn write(
        &self,
        (sums, stride): (&[f32], usize),
        band: Range<usize>,
        lines: &mut [f32],
        y: &mut [&mut [f32]],
    ) {
        let ([rows, columns], to) = (self.to.count, &self.to);
        for (i, image_row) in band.enumerate() {
            let (image, row) = (image_row / rows, image_row % rows);
            let sums = (&sums[i * columns * to.pitch()..], stride);
            match self.filters {
                FilterLayout::Plain => to.output(sums, row, lines, y[image]),
                FilterLayout::Transposed => to.input_grad(sums, row, lines, y[image]),
            }
        }
    }

    /// Adds the bias of each channel, if there is a bias.
    pub fn add_bias(&self, bias: Option<&[f32]>, y: &mut [&mut [f32]]) {
        let Some(bias) = bias else { return };
        for y in y {
            for (plane, bias) in y.chunks_exact_mut(self.to.pixels()).zip(bias) {
                for y in plane {
                    *y += bias;
                }
            }
        }
    }
}

//! One of the two passes that have products with the filters at each place of every tile: the output, and the
//! gradient of the input.

use std::ops::Range;

use super::filters::Filters;
use super::tiles::Tiles;

/// One of the two passes.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    pub filters: Filters,
    pub from: Tiles,
    pub to: Tiles,
}

impl Pass {
    /// Transforms rows of tiles; the rows of all images are numbered one after another.
    pub fn read(
        &self,
        x: &[&[f32]],
        band: Range<usize>,
        lines: &mut [f32],
        into: (&mut [f32], usize),
    ) {
        match self.filters {
            Filters::Plain => self.from.inputs(x, band, lines, into),
            Filters::Transposed => self.from.output_grads(x, band, lines, into),
        }
    }

    /// Writes what the sums of rows of tiles are transformed to. The last `lines` of a row are those of the
    /// next one, too, which may be in another band.
    pub fn write(
        &self,
        (sums, place): (&[f32], usize),
        band: Range<usize>,
        lines: &mut [f32],
        y: &mut [&mut [f32]],
    ) {
        let ([rows, columns], to) = (self.to.count, &self.to);
        for (i, at) in band.enumerate() {
            let (image, row) = (at / rows, at % rows);
            let sums = (&sums[i * columns * to.pitch()..], place);
            match self.filters {
                Filters::Plain => to.output(sums, row, lines, y[image]),
                Filters::Transposed => to.input_grad(sums, row, lines, y[image]),
            }
        }
    }

    /// Adds a number for each channel.
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

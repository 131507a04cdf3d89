//! Reads and writes rows of tiles of an image: transposes the lines of the image to channels-last lines, and transforms the
//! tiles in them. A *line* is `[pixels][channels]`, and `lines` buffers have the 6 lines of one row of tiles.

use std::ops::Range;

use super::maps::{Input, InputGrad, Output, OutputGrad};
use super::position_squares;
use super::transform::{PATCH, SquareLayout, transform, transform_onto};
use crate::im2col::round_up;
use crate::matrix::Matrix;

/// The tiles of the images of one tensor, as a convolution reads or writes them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tiles {
    /// The number of channels.
    pub channels: usize,
    /// The height and the width of the image.
    pub image: [usize; 2],
    /// The numbers of zeros above the image and left of it.
    pub padding: [usize; 2],
    /// The number of output pixels of a tile along each axis: 4 or 2.
    pub tile: usize,
    /// The numbers of rows and columns of tiles.
    pub count: [usize; 2],
}

impl Tiles {
    /// The number of channels, padded to whole vectors.
    pub fn pitch(&self) -> usize {
        round_up(self.channels)
    }

    /// The number of pixels of a channel.
    pub fn pixels(&self) -> usize {
        self.image[0] * self.image[1]
    }

    /// The number of values of one image.
    pub fn image_len(&self) -> usize {
        self.channels * self.pixels()
    }

    /// The number of values of the lines of one row of tiles.
    pub fn lines_len(&self) -> usize {
        PATCH * self.line_len()
    }

    /// The number of values of one line: the output pixels of all tiles of a row, and the further pixels that the last tile
    /// depends on.
    fn line_len(&self) -> usize {
        (self.count[1] * self.tile + PATCH - self.tile) * self.pitch()
    }

    /// The layout of the tiles in the lines of a row.
    fn squares(&self) -> SquareLayout {
        SquareLayout {
            steps: [self.line_len(), self.pitch()],
            next: self.tile * self.pitch(),
        }
    }

    /// Transforms the input of the rows `band` of tiles. The rows of all images are numbered one after another. `stride` is
    /// the distance between the positions of `into`.
    pub fn inputs(
        &self,
        x: &[&[f32]],
        band: Range<usize>,
        lines: &mut [f32],
        (into, stride): (&mut [f32], usize),
    ) {
        let ([rows, columns], pitch) = (self.count, self.pitch());
        for (i, image_row) in band.enumerate() {
            let (image, row) = (image_row / rows, image_row % rows);
            // The last lines of the row above are the first lines of this row, and need not be read again.
            let known = if i > 0 && row > 0 {
                PATCH - self.tile
            } else {
                0
            };
            if known > 0 {
                lines.copy_within(self.tile * self.line_len().., 0);
            }
            let unknown = &mut lines[known * self.line_len()..];
            self.read(x[image], row * self.tile + known, unknown);
            let from = (&*lines, self.squares());
            let into = &mut into[i * columns * pitch..];
            let into = (into, position_squares(stride, pitch));
            transform::<Input, PATCH, PATCH>(from, into, [columns, pitch]);
        }
    }

    /// Transforms the gradient of the output of the rows `band` of tiles, which are numbered in the same way.
    pub fn output_grads(
        &self,
        grads: &[&[f32]],
        band: Range<usize>,
        lines: &mut [f32],
        (into, stride): (&mut [f32], usize),
    ) {
        let ([rows, columns], pitch) = (self.count, self.pitch());
        let lines = &mut lines[..self.tile * self.line_len()];
        for (i, image_row) in band.enumerate() {
            let (image, row) = (image_row / rows, image_row % rows);
            self.read(grads[image], row * self.tile, lines);
            let from = (&*lines, self.squares());
            let into = &mut into[i * columns * pitch..];
            let (into, sizes) = ((into, position_squares(stride, pitch)), [columns, pitch]);
            match self.tile {
                4 => transform::<OutputGrad, 4, PATCH>(from, into, sizes),
                _ => transform::<OutputGrad, 2, PATCH>(from, into, sizes),
            }
        }
    }

    /// Transforms the sums of one row of tiles to the output, and writes it.
    pub fn output(
        &self,
        (sums, stride): (&[f32], usize),
        row: usize,
        lines: &mut [f32],
        y: &mut [f32],
    ) {
        let ([height, width], pitch) = (self.image, self.pitch());
        let columns = self.count[1] * self.tile;
        let into = SquareLayout {
            steps: [columns * pitch, pitch],
            next: self.tile * pitch,
        };
        let (sums, into) = ((sums, position_squares(stride, pitch)), (&mut *lines, into));
        let sizes = [self.count[1], pitch];
        match self.tile {
            4 => transform::<Output, PATCH, 4>(sums, into, sizes),
            _ => transform::<Output, PATCH, 2>(sums, into, sizes),
        }
        let first = row * self.tile;
        let count = self.tile.min(height - first);
        // If lines have no surplus pixels, they are transposed as one long line, which is faster than several short ones.
        let (count, len) = if columns == width {
            (1, count * width)
        } else {
            (count, width)
        };
        for line in 0..count {
            let pixels = Matrix {
                values: &lines[line * columns * pitch..],
                stride: pitch,
            };
            let y = &mut y[(first + line) * width..];
            pixels.transpose_into([len, self.channels], y, height * width);
        }
    }

    /// Transforms the sums of one row of tiles to the gradient of the input, adds it to `lines`, and writes the lines to which
    /// no later row adds. The rows of an image must come one after another.
    pub fn input_grad(
        &self,
        (sums, stride): (&[f32], usize),
        row: usize,
        lines: &mut [f32],
        x: &mut [f32],
    ) {
        let ([height, width], [top, left]) = (self.image, self.padding);
        let (pitch, len) = (self.pitch(), self.line_len());
        // The lines that the row above has added to.
        let shared = if row == 0 { 0 } else { PATCH - self.tile };
        if row > 0 {
            lines.copy_within(self.tile * len.., 0);
        }
        lines[shared * len..].fill(0.0);
        let sums = (sums, position_squares(stride, pitch));
        let into = (&mut *lines, self.squares());
        transform_onto::<InputGrad, PATCH, PATCH>(sums, into, [self.count[1], pitch]);
        let complete = if row + 1 == self.count[0] {
            PATCH
        } else {
            self.tile
        };
        for (line, values) in lines.chunks_exact(len).take(complete).enumerate() {
            let y = row * self.tile + line;
            if (top..top + height).contains(&y) {
                let pixels = Matrix {
                    values: &values[left * pitch..],
                    stride: pitch,
                };
                let x = &mut x[(y - top) * width..];
                pixels.transpose_into([width, self.channels], x, height * width);
            }
        }
    }

    /// Transposes the lines of the padded image from line `first` on to `lines`, `[lines][pixels][channels]`.
    fn read(&self, x: &[f32], first: usize, lines: &mut [f32]) {
        let ([height, width], [top, left]) = (self.image, self.padding);
        let pitch = self.pitch();
        for (y, line) in (first..).zip(lines.chunks_exact_mut(self.line_len())) {
            if !(top..top + height).contains(&y) {
                line.fill(0.0);
                continue;
            }
            let plane = Matrix {
                values: &x[(y - top) * width..],
                stride: height * width,
            };
            line[..left * pitch].fill(0.0);
            line[(left + width) * pitch..].fill(0.0);
            plane.transpose_into([self.channels, width], &mut line[left * pitch..], pitch);
        }
    }
}

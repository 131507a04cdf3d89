//! Rows of tiles of an image, read and written as channels-last lines.

use std::ops::Range;

use super::maps::{Input, InputGrad, Output, OutputGrad};
use super::places;
use super::transform::{PATCH, Squares, transform, transform_onto};
use crate::im2col::round_up;
use crate::matrix::Matrix;

/// The tiles of the images of one tensor, as a convolution reads or writes them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tiles {
    /// Channels.
    pub channels: usize,
    /// Height and width of the image.
    pub image: [usize; 2],
    /// Zeros above the image and left of it.
    pub padding: [usize; 2],
    /// Output pixels of a tile, in each direction: 4 or 2.
    pub tile: usize,
    /// Tiles in each direction.
    pub count: [usize; 2],
}

impl Tiles {
    /// Channels, filled up to whole vectors.
    pub fn pitch(&self) -> usize {
        round_up(self.channels)
    }

    /// Pixels of a channel.
    pub fn pixels(&self) -> usize {
        self.image[0] * self.image[1]
    }

    /// Values of one image.
    pub fn image_len(&self) -> usize {
        self.channels * self.pixels()
    }

    /// Values of the lines of one row of tiles.
    pub fn lines_len(&self) -> usize {
        PATCH * self.line_len()
    }

    /// Values of one line: the pixels of all tiles of a row, and those past the last that it depends on.
    fn line_len(&self) -> usize {
        (self.count[1] * self.tile + PATCH - self.tile) * self.pitch()
    }

    /// Where the tiles of a row lie in its lines.
    fn squares(&self) -> Squares {
        Squares {
            steps: [self.line_len(), self.pitch()],
            next: self.tile * self.pitch(),
        }
    }

    /// Transforms the input of rows of tiles; the rows of all images are numbered one after another.
    pub fn inputs(
        &self,
        x: &[&[f32]],
        band: Range<usize>,
        lines: &mut [f32],
        (into, place): (&mut [f32], usize),
    ) {
        let [rows, columns] = self.count;
        for (i, at) in band.enumerate() {
            let (image, row) = (at / rows, at % rows);
            let into = (&mut into[i * columns * self.pitch()..], place);
            self.input(x[image], row, i > 0 && row > 0, lines, into);
        }
    }

    /// Transforms the gradient of the output of rows of tiles, which are numbered in the same way.
    pub fn output_grads(
        &self,
        grads: &[&[f32]],
        band: Range<usize>,
        lines: &mut [f32],
        (into, place): (&mut [f32], usize),
    ) {
        let [rows, columns] = self.count;
        for (i, at) in band.enumerate() {
            let into = (&mut into[i * columns * self.pitch()..], place);
            self.output_grad(grads[at / rows], at % rows, lines, into);
        }
    }

    /// Transforms the input of one row of tiles. If it is `below` the row that was transformed last, the first
    /// of its `lines` are known.
    fn input(
        &self,
        x: &[f32],
        row: usize,
        below: bool,
        lines: &mut [f32],
        (into, place): (&mut [f32], usize),
    ) {
        let known = if below { PATCH - self.tile } else { 0 };
        if below {
            lines.copy_within(self.tile * self.line_len().., 0);
        }
        self.read(
            x,
            row * self.tile + known,
            &mut lines[known * self.line_len()..],
        );
        let into = (into, places(place, self.pitch()));
        transform::<Input, PATCH, PATCH>(
            (lines, self.squares()),
            into,
            [self.count[1], self.pitch()],
        );
    }

    /// Transforms the gradient of the output of one row of tiles.
    fn output_grad(
        &self,
        grad: &[f32],
        row: usize,
        lines: &mut [f32],
        (into, place): (&mut [f32], usize),
    ) {
        self.read(
            grad,
            row * self.tile,
            &mut lines[..self.tile * self.line_len()],
        );
        let (lines, into) = (
            (&*lines, self.squares()),
            (into, places(place, self.pitch())),
        );
        let sizes = [self.count[1], self.pitch()];
        match self.tile {
            4 => transform::<OutputGrad, 4, PATCH>(lines, into, sizes),
            _ => transform::<OutputGrad, 2, PATCH>(lines, into, sizes),
        }
    }

    /// Writes the output of one row of tiles.
    pub fn output(
        &self,
        (sums, place): (&[f32], usize),
        row: usize,
        lines: &mut [f32],
        y: &mut [f32],
    ) {
        let ([height, width], pitch) = (self.image, self.pitch());
        let columns = self.count[1] * self.tile;
        let into = Squares {
            steps: [columns * pitch, pitch],
            next: self.tile * pitch,
        };
        let (sums, into) = ((sums, places(place, pitch)), (&mut *lines, into));
        let sizes = [self.count[1], pitch];
        match self.tile {
            4 => transform::<Output, PATCH, 4>(sums, into, sizes),
            _ => transform::<Output, PATCH, 2>(sums, into, sizes),
        }
        let first = row * self.tile;
        let count = self.tile.min(height - first);
        // Lines that have no surplus pixels are transposed as one, because short ones take long.
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

    /// Adds the gradient of the input of one row of tiles to `lines`, and writes those that no later row adds
    /// to. The rows of an image come one after another.
    pub fn input_grad(
        &self,
        (sums, place): (&[f32], usize),
        row: usize,
        lines: &mut [f32],
        x: &mut [f32],
    ) {
        let ([height, width], [top, left]) = (self.image, self.padding);
        let (pitch, len) = (self.pitch(), self.line_len());
        let known = if row == 0 { 0 } else { PATCH - self.tile };
        if row > 0 {
            lines.copy_within(self.tile * len.., 0);
        }
        lines[known * len..].fill(0.0);
        let sums = (sums, places(place, pitch));
        let into = (&mut *lines, self.squares());
        transform_onto::<InputGrad, PATCH, PATCH>(sums, into, [self.count[1], pitch]);
        let done = if row + 1 == self.count[0] {
            PATCH
        } else {
            self.tile
        };
        for (line, values) in lines.chunks_exact(len).take(done).enumerate() {
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

    /// Copies lines of the padded image from line `first` on, `[lines][pixels][channels]`.
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

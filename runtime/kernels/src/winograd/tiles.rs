//! Rows of tiles of an image, read and written as channels-last lines.

use super::places;
use super::transform::{Input, Output, OutputGrad, PATCH, Squares, TILE, transform};
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
    /// Tiles in each direction.
    pub count: [usize; 2],
}

impl Tiles {
    /// Channels, filled up to whole vectors.
    pub fn pitch(&self) -> usize {
        round_up(self.channels)
    }

    /// Values of the lines of one row of tiles.
    pub fn lines_len(&self) -> usize {
        PATCH * self.line_len()
    }

    /// Values of one line: the pixels of all tiles of a row, and two more.
    fn line_len(&self) -> usize {
        (self.count[1] * TILE + PATCH - TILE) * self.pitch()
    }

    /// Where the tiles of a row lie in its lines.
    fn squares(&self) -> Squares {
        Squares {
            steps: [self.line_len(), self.pitch()],
            next: TILE * self.pitch(),
        }
    }

    /// Transforms the input of one row of tiles. If it is `below` the row that was transformed last, two of
    /// its `lines` are known.
    pub fn input(
        &self,
        x: &[f32],
        row: usize,
        below: bool,
        lines: &mut [f32],
        (into, place): (&mut [f32], usize),
    ) {
        let known = if below { PATCH - TILE } else { 0 };
        if below {
            lines.copy_within(TILE * self.line_len().., 0);
        }
        self.read(x, row * TILE + known, &mut lines[known * self.line_len()..]);
        let into = (into, places(place, self.pitch()));
        transform::<Input, PATCH, PATCH>(
            (lines, self.squares()),
            into,
            [self.count[1], self.pitch()],
        );
    }

    /// Transforms the gradient of the output of one row of tiles.
    pub fn output_grad(
        &self,
        grad: &[f32],
        row: usize,
        lines: &mut [f32],
        (into, place): (&mut [f32], usize),
    ) {
        self.read(grad, row * TILE, &mut lines[..TILE * self.line_len()]);
        let into = (into, places(place, self.pitch()));
        transform::<OutputGrad, TILE, PATCH>(
            (lines, self.squares()),
            into,
            [self.count[1], self.pitch()],
        );
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
        let columns = self.count[1] * TILE;
        let into = Squares {
            steps: [columns * pitch, pitch],
            next: TILE * pitch,
        };
        transform::<Output, PATCH, TILE>(
            (sums, places(place, pitch)),
            (lines, into),
            [self.count[1], self.pitch()],
        );
        let first = row * TILE;
        let count = TILE.min(height - first);
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

//! The output and the gradient of the input: products with the filters at each place of every tile.

use std::ops::Range;

use super::blocks;
use super::filters::{Filters, Part};
use super::tiles::Tiles;
use super::{PLACES, band, filter_place, is_blocked, most_filters, place_len, tiles};
use crate::matrix::{Matrix, Operand};
use crate::product::Product;
use crate::scratch::{self, Scratch, room};
use crate::shape::Sizes;
use crate::team;

/// The convolution over slices.
pub(crate) fn output(sizes: &Sizes, x: &[f32], w: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
    let [from, to] = tiles(sizes);
    let filters = Filters::Plain;
    let pass = Pass { filters, from, to };
    pass.run(sizes, x, w, bias)
}

/// The gradient of the input over slices.
pub(crate) fn input_grad(sizes: &Sizes, w: &[f32], grad: &[f32]) -> Vec<f32> {
    let [to, from] = tiles(sizes);
    let filters = Filters::Transposed;
    let pass = Pass { filters, from, to };
    pass.run(sizes, grad, w, None)
}

/// One of the two passes.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    pub filters: Filters,
    pub from: Tiles,
    pub to: Tiles,
}

impl Pass {
    fn run(self, sizes: &Sizes, x: &[f32], w: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
        let Self { filters, from, to } = self;
        if is_blocked(sizes, blocks::MOST_TILES) {
            return blocks::run(self, sizes, x, w, bias);
        }
        let mut y = vec![0.0; sizes.batch * sizes.groups * to.image_len()];
        let flops = sizes.flops() / sizes.groups;
        let most = most_filters([from.channels, to.channels]);
        scratch::lend(
            |scratch| &mut scratch.panels,
            |panels| {
                let firsts = (0..to.channels).step_by(most);
                let of_group = |group| firsts.clone().map(move |first| (group, first));
                for (group, first) in (0..sizes.groups).flat_map(of_group) {
                    let some = Tiles {
                        channels: most.min(to.channels - first),
                        ..to
                    };
                    let pass = Self { to: some, ..self };
                    // Every pixel is computed in the same way, whatever the images it is computed with.
                    let images = band(&from, &some) / from.count[0];
                    let images = images.min(sizes.batch.div_ceil(team::size(flops))).max(1);
                    let weights = filter_place([from.channels, some.channels]);
                    let panels = room(panels, PLACES * weights);
                    let w = &w[group * sizes.filters * sizes.taps()..];
                    scratch::with(|scratch| {
                        let (written, of) =
                            (first..first + some.channels, [from.channels, to.channels]);
                        let part = Part {
                            from: 0..of[0],
                            to: written,
                            of,
                        };
                        filters.transform(w, &part, sizes.kernel[0], &mut scratch.block, panels);
                    });
                    let bias =
                        bias.map(|bias| &bias[group * to.channels + first..][..some.channels]);
                    let all = y.chunks_exact_mut(to.image_len());
                    let of_group = all.skip(group).step_by(sizes.groups);
                    let mut of_group: Vec<_> = of_group
                        .map(|y| &mut y[first * to.pixels()..][..some.image_len()])
                        .collect();
                    let parts = of_group.chunks_mut(images).enumerate();
                    team::each(flops, parts, |(i, y)| {
                        let x = sizes.images(x, from.image_len(), group, i * images);
                        let x: Vec<&[f32]> = x.take(y.len()).collect();
                        scratch::with(|scratch| pass.some_images(panels, bias, &x, y, scratch));
                    });
                }
            },
        );
        y
    }

    /// Some images of a group.
    fn some_images(
        &self,
        filters: &[f32],
        bias: Option<&[f32]>,
        x: &[&[f32]],
        y: &mut [&mut [f32]],
        scratch: &mut Scratch,
    ) {
        let (from, to) = (&self.from, &self.to);
        let [rows, columns] = from.count;
        let pitches = [from.pitch(), to.pitch()];
        let weights = filter_place([from.channels, to.channels]);
        let band = band(from, to).min(rows * x.len());
        let [from_place, to_place] = pitches.map(|pitch| place_len(band * columns * pitch));
        let read = room(&mut scratch.rows, PLACES * from_place);
        let sums = room(&mut scratch.grad, PLACES * to_place);
        let lines = room(&mut scratch.image, from.lines_len());
        let open = room(&mut scratch.block, to.lines_len());
        for first in (0..rows * x.len()).step_by(band) {
            let count = band.min(rows * x.len() - first);
            self.read(x, first..first + count, lines, (read, from_place));
            for place in 0..PLACES {
                Product {
                    a: Operand::Plain(Matrix {
                        values: &read[place * from_place..],
                        stride: pitches[0],
                    }),
                    b: Matrix {
                        values: &filters[place * weights..],
                        stride: pitches[1],
                    },
                    c: &mut sums[place * to_place..],
                    pitch: pitches[1],
                    sizes: [count * columns, from.channels, to.channels],
                    alpha: 1.0,
                    add: false,
                }
                .run();
            }
            self.write((sums, to_place), first..first + count, open, y);
        }
        self.add_bias(bias, y);
    }

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

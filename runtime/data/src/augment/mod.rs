//! Augmentation: random changes of images as they are gathered.
//!
//! | text | what it does |
//! |---|---|
//! | `crop:PAD` | pads every side by PAD pixels of black and cuts out an image of the old size at random |
//! | `flip` | mirrors left and right with probability 1/2 |
//! | `rotate:DEGREES` | turns by a random angle of up to DEGREES either way; black comes in at the corners |
//! | `resize:SIDE` | scales to SIDE x SIDE pixels |
//! | `normalise:MEAN:STD` | `(x - MEAN) / STD`; one of each, or one for each channel with `/` between them |
//!
//! Steps are separated by commas, as in `crop:4,flip`, and applied in order. The random numbers depend
//! only on the seed, the round, the client, its epoch and the example.

mod error;
mod pixels;
mod text;

#[cfg(test)]
mod tests;

use crate::dataset::image_shape;
use crate::{Column, DataError};
use fedround_random::{LocalEpoch, Purpose, Stream, StreamKey};

pub use error::AugmentError;

/// A pipeline of [`Transform`]s. It is parsed from, and printed as, the text of the [module](self)'s table. The
/// default changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Augment {
    /// The steps, in the order in which they are applied.
    pub steps: Vec<Transform>,
}

/// A change of an image of `[channels, height, width]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Transform {
    /// Cuts an image of the old size out of a padded one, at random.
    Crop {
        /// Pixels of black on every side.
        pad: usize,
    },
    /// Mirrors left and right with probability 1/2.
    Flip,
    /// Rotates around the middle by a random angle, with linear interpolation.
    Rotate {
        /// The largest angle either way, in degrees.
        degrees: f32,
    },
    /// Scales to a square, with linear interpolation between pixels' centres.
    Resize {
        /// The new height and width, in pixels.
        side: usize,
    },
    /// `(x - mean) / std`.
    Normalise {
        /// The mean of each channel, or one for all.
        mean: Vec<f32>,
        /// The standard deviation of each channel, or one for all.
        std: Vec<f32>,
    },
}

/// When and by which client examples are visited. All randomness depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// The seed of the run.
    pub seed: u64,
    /// The round.
    pub round: usize,
    /// The client.
    pub client: usize,
    /// The client's local epoch in the round.
    pub epoch: LocalEpoch,
}

impl Visit {
    fn stream(self, example: usize) -> Stream {
        let key = StreamKey::new(self.seed, Purpose::Augmentation);
        let key = key
            .with(self.round)
            .with(self.client)
            .with_epoch(self.epoch);
        key.with(example).stream()
    }
}

/// Buffers of [`Augment::gather_into`], reused from batch to batch.
#[derive(Debug, Default)]
pub struct Scratch {
    batch: Vec<f32>,
    from: Vec<f32>,
    to: Vec<f32>,
    /// The number that black is, for each channel.
    black: Vec<f32>,
    across: Vec<pixels::Place>,
}

impl Augment {
    /// Checks steps that a program made, by the rules of their text.
    ///
    /// # Errors
    /// [`AugmentError::Argument`] of the first step with a number that is out of its range.
    pub fn check(&self) -> Result<(), AugmentError> {
        let mut steps = self.steps.iter();
        steps.try_for_each(|step| step.to_string().parse::<Transform>().map(drop))
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The steps without randomness (resizing and normalisation), which apply to test images too.
    #[must_use]
    pub fn fixed(&self) -> Self {
        let fixed = |step: &&Transform| {
            matches!(step, Transform::Resize { .. } | Transform::Normalise { .. })
        };
        Self {
            steps: self.steps.iter().filter(fixed).cloned().collect(),
        }
    }

    /// Whether a step is random, so that an image differs from visit to visit.
    pub fn is_random(&self) -> bool {
        *self != self.fixed()
    }

    /// The shape that an image of `shape` gets.
    ///
    /// # Errors
    /// [`AugmentError::Channels`] if a step is for another number of channels.
    pub fn output_shape(&self, shape: [usize; 3]) -> Result<[usize; 3], AugmentError> {
        let [channels, mut height, mut width] = shape;
        for step in &self.steps {
            match step {
                Transform::Resize { side } => [height, width] = [*side; 2],
                Transform::Normalise { mean, std } => {
                    let fits = |n: usize| n == 1 || n == channels;
                    if !fits(mean.len()) || !fits(std.len()) {
                        let step = step.to_string();
                        return Err(AugmentError::Channels { step, channels });
                    }
                }
                Transform::Crop { .. } | Transform::Flip | Transform::Rotate { .. } => {}
            }
        }
        Ok([channels, height, width])
    }

    /// Writes the augmented images of the examples at `indices` to `out`, `[indices, output shape…]`. An
    /// example's result does not depend on the other examples.
    ///
    /// # Errors
    /// Examples are not images, a step is for another number of channels, or an image file cannot be
    /// decoded.
    ///
    /// # Panics
    /// If an index is not below the column's length, or `out` is not of the right length.
    pub fn gather_into(
        &self,
        column: &Column,
        indices: &[usize],
        visit: Visit,
        scratch: &mut Scratch,
        out: &mut [f32],
    ) -> Result<(), DataError> {
        let shape = image_shape(column.name(), column.shape())?;
        let features = column.features();
        let size = self.output_shape(shape)?.iter().product::<usize>();
        assert_eq!(out.len(), indices.len() * size, "length of the output");
        if self.steps.is_empty() {
            return column.gather_into(indices, out);
        }
        let mut batch = std::mem::take(&mut scratch.batch);
        batch.resize(indices.len() * features, 0.0);
        column.gather_into(indices, &mut batch)?;
        let rows = batch
            .chunks_exact(features)
            .zip(out.chunks_exact_mut(size.max(1)));
        for (&index, (image, out)) in indices.iter().zip(rows) {
            scratch.from.clear();
            scratch.from.extend_from_slice(image);
            column.black_into(&mut scratch.black);
            self.apply(shape, &mut visit.stream(index), scratch);
            out.copy_from_slice(&scratch.from);
        }
        scratch.batch = batch;
        Ok(())
    }

    /// Applies the steps to the image in `scratch.from`.
    fn apply(&self, shape: [usize; 3], stream: &mut Stream, scratch: &mut Scratch) {
        let [channels, mut height, mut width] = shape;
        let Scratch {
            from,
            to,
            black,
            across,
            ..
        } = scratch;
        for step in &self.steps {
            let old = [height, width];
            if let Transform::Resize { side } = step {
                [height, width] = [*side; 2];
                across.clear();
                across.extend(pixels::places(old[1], width));
            }
            to.resize(channels * height * width, 0.0);
            // Drawn once for all channels.
            let change = Change::draw(step, stream);
            let planes = from.chunks_exact(old[0] * old[1]);
            let planes = planes.zip(to.chunks_exact_mut(height * width));
            for (channel, ((from, to), black)) in planes.zip(black.iter_mut()).enumerate() {
                match change {
                    Change::Keep => to.copy_from_slice(from),
                    Change::Shift(by) => pixels::shift(from, old, by, *black, to),
                    Change::Mirror => pixels::mirror(from, width, to),
                    Change::Turn(angle) => pixels::turn(from, old, angle, *black, to),
                    Change::Resize => pixels::resize(from, old, across, to),
                    Change::Normalise(mean, std) => {
                        let of = |values: &[f32]| values[channel.min(values.len() - 1)];
                        let normal = |x: f32| (x - of(mean)) / of(std);
                        to.iter_mut().zip(from).for_each(|(to, &x)| *to = normal(x));
                        *black = normal(*black);
                    }
                }
            }
            std::mem::swap(from, to);
        }
    }
}

/// A step with its random numbers drawn.
#[derive(Clone, Copy)]
enum Change<'a> {
    Keep,
    /// Down and to the right, in pixels.
    Shift([isize; 2]),
    Mirror,
    /// In radians.
    Turn(f32),
    Resize,
    Normalise(&'a [f32], &'a [f32]),
}

impl<'a> Change<'a> {
    fn draw(step: &'a Transform, stream: &mut Stream) -> Self {
        match step {
            Transform::Crop { pad } => {
                let mut by = || stream.below(2 * pad + 1) as isize - *pad as isize;
                Self::Shift([by(), by()])
            }
            Transform::Flip if stream.below(2) == 1 => Self::Mirror,
            Transform::Flip => Self::Keep,
            Transform::Rotate { degrees } => {
                let degrees = f64::from(*degrees);
                Self::Turn(stream.range(-degrees, degrees).to_radians() as f32)
            }
            Transform::Resize { .. } => Self::Resize,
            Transform::Normalise { mean, std } => Self::Normalise(mean, std),
        }
    }
}

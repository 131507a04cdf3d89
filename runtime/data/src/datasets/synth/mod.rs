//! Synthetic digits, which need no files.
//!
//! An example starts from one of several stroke outlines of its digit. The knots of the outline are moved,
//! the outline is deformed by an elastic and an affine map, and painted in a [`Style`]. Example `i` of a
//! split is a function of the seed, the split and `i` only, whatever the number of threads and of examples.
//! Classes are balanced: every ten consecutive examples hold each digit once.
//!
//! A multilayer perceptron learns the default set well, and a linear model clearly less well: see
//! `fedround run centralized --rounds 10`, with `--model 2nn` and with `--model logistic`.

mod digits;
mod outline;
mod shape;
mod style;
#[cfg(test)]
mod tests;

pub use style::Style;

use rayon::prelude::*;

use super::DIGITS;
use crate::{Dataset, DatasetInfo, Examples, Scale};
use fedround_random::{Purpose, StreamKey, permutation};
use shape::Canvas;

/// One of the two parts of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// The examples that clients hold.
    Train,
    /// The examples that the server evaluates on.
    Test,
}

/// A dataset of synthetic digits. [`Default`] is `synth-digits`.
#[derive(Clone, Debug, PartialEq)]
pub struct SynthDigits {
    /// Another seed gives other examples of the same distribution.
    pub seed: u64,
    /// The number of training examples.
    pub train: usize,
    /// The number of test examples.
    pub test: usize,
    /// 32x32 in colour rather than 28x28 in grey.
    pub rgb: bool,
    /// The strength of the distortion: 0 for none, 1 for the default.
    pub distortion: f64,
    /// The styles and their relative frequencies. Styles whose frequency is not above 0 do not occur. An
    /// empty list means [`Style::Plain`].
    pub styles: Vec<(Style, f64)>,
}

impl Default for SynthDigits {
    fn default() -> Self {
        Self {
            seed: 0,
            train: 10_000,
            test: 2_000,
            rgb: false,
            distortion: 1.0,
            styles: vec![(Style::Plain, 1.0)],
        }
    }
}

pub(super) const GREY: DatasetInfo = DatasetInfo {
    name: "synth-digits",
    doc: "digits drawn here from strokes, with affine and elastic distortion: no real data, no files",
    classes: 10,
    class_names: DIGITS,
    shape: &[1, 28, 28],
    read: |request| Ok(SynthDigits::default().with_seed(request.seed).generate()),
    ..DatasetInfo::BASE
};

pub(super) const RGB: DatasetInfo = DatasetInfo {
    name: "synth-digits-rgb",
    doc: "the same digits, drawn here in colour: no real data, no files",
    shape: &[3, 32, 32],
    read: |request| Ok(SynthDigits::rgb().with_seed(request.seed).generate()),
    ..GREY
};

// The streams of an example: the last part of their keys.
const LABEL: usize = 0;
const STYLE: usize = 1;
const SHAPE: usize = 2;
const PAINT: usize = 3;

impl SynthDigits {
    /// The dataset `synth-digits-rgb`: 32x32, ink and paper of random colours.
    pub fn rgb() -> Self {
        Self {
            rgb: true,
            styles: vec![(Style::Coloured, 1.0)],
            ..Self::default()
        }
    }

    fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    fn key(&self, split: Split, index: usize, what: usize) -> StreamKey {
        let key = StreamKey::new(self.seed, Purpose::Synthesis);
        key.with(split as usize).with(index).with(what)
    }

    /// The digit of example `index`.
    pub fn label_of(&self, split: Split, index: usize) -> u16 {
        let block = permutation(10, self.key(split, index / 10, LABEL));
        block[index % 10] as u16
    }

    /// The style of example `index`, for instance to give clients different styles.
    pub fn style_of(&self, split: Split, index: usize) -> Style {
        let weights = || self.styles.iter().filter(|(_, w)| *w > 0.0);
        let total: f64 = weights().map(|(_, w)| w).sum();
        let mut rest = total * self.key(split, index, STYLE).stream().unit();
        for (style, weight) in weights() {
            if rest < *weight {
                return *style;
            }
            rest -= weight;
        }
        weights()
            .next_back()
            .map_or(Style::Plain, |(style, _)| *style)
    }

    /// Generates the examples on the threads of the current rayon pool.
    pub fn generate(&self) -> Dataset {
        let info = if self.rgb { &RGB } else { &GREY };
        let train = self.examples(Split::Train, self.train);
        let test = self.examples(Split::Test, self.test);
        Dataset::new(info.name, train, test, DIGITS.iter().copied())
    }

    /// Generates the first `count` examples of a split.
    pub fn examples(&self, split: Split, count: usize) -> Examples {
        let (shape, scale) = match self.rgb {
            false => ([1, 28, 28], Scale::Unit),
            true => ([3, 32, 32], Scale::Centred),
        };
        let side = shape[1];
        let features = shape.iter().product();
        let mut pixels = vec![0; count * features];
        let images = pixels.par_chunks_exact_mut(features).enumerate();
        let labels = images
            .map_init(Canvas::default, |canvas, (index, image)| {
                let (label, style) = (self.label_of(split, index), self.style_of(split, index));
                let mut shape = self.key(split, index, SHAPE).stream();
                let width = style.width(&mut shape) * side as f64 / 28.0;
                canvas.draw(usize::from(label), side, width, self.distortion, &mut shape);
                let mut paint = self.key(split, index, PAINT).stream();
                style.paint(&canvas.ink, side, &mut paint, image);
                label
            })
            .collect::<Vec<u16>>();
        Examples::of_images(shape, pixels, labels, scale)
    }
}

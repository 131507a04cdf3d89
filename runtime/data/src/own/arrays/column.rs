//! An array of inputs as the column `x`.

use std::path::{Path, PathBuf};

use super::elements::Elements;
use super::npy::{Array, wrong};
use crate::own::normalize::{of_channels, sample};
use crate::own::{NumberScale, ReadOptions};
use crate::{Column, DataError, InputEncoding, InputValues, Scale};

/// The scale of bytes is found on so many images.
const SAMPLE: usize = 1000;

/// The column `x`, and the scale of its numbers. Bytes of rank 3 or 4 are images.
pub(super) fn column(
    (path, array): (PathBuf, Array),
    reading: &ReadOptions,
    train: &[usize],
) -> Result<(Column, Option<NumberScale>), DataError> {
    let layout = Layout::of(&path, &array)?;
    match array.elements {
        Elements::Texts(_) => Err(wrong(&path, "numbers", "texts")),
        Elements::Bytes(bytes) if layout.shape.len() == 3 => {
            Ok((images(&bytes, layout, reading, train)?, None))
        }
        elements => {
            let (column, scale) = numbers(&path, &elements, layout, reading, train)?;
            Ok((column, Some(scale)))
        }
    }
}

/// The column `x` of new examples, for a model whose training examples have this encoding. An array of rank 2 has
/// the numbers of an example channel by channel.
pub(super) fn encoded(
    path: &Path,
    array: Array,
    encoding: &InputEncoding,
) -> Result<Column, DataError> {
    let layout = Layout::of(path, &array)?;
    if layout.shape != encoding.shape && layout.shape != [encoding.features()] {
        let shape: Vec<String> = encoding.shape.iter().map(usize::to_string).collect();
        let mut expected = format!("examples of shape {}, as in training", shape.join("x"));
        if array.elements.len() == encoding.features() {
            expected += " (x[None] makes an array of examples of one)";
        }
        return Err(wrong(path, expected, array.describe()));
    }
    DataError::empty_if(array.elements.len() == 0, path)?;
    let shape = encoding.shape.clone();
    match (&encoding.values, array.elements) {
        (InputValues::Bytes { mean, std }, Elements::Bytes(bytes)) => {
            let scale = Scale::normalised(mean, std);
            Ok(Column::bytes("x", shape, layout.planes(&bytes), scale)?)
        }
        (InputValues::Numbers(scale), elements) if elements.kind() != "texts" => {
            layout.check_finite(path, &elements)?;
            let numbers = layout.scaled(path, &elements, scale)?;
            Ok(Column::floats("x", shape, numbers)?)
        }
        (_, elements) => {
            let expected = encoding.describe() + ", as in training";
            Err(wrong(path, expected, elements.kind()))
        }
    }
}

/// How an array holds its examples.
struct Layout {
    /// The shape of an example, with its channels first.
    shape: Vec<usize>,
    /// Whether the array has an example's channels last.
    channels_last: bool,
    /// The number of numbers of an example.
    features: usize,
}

impl Layout {
    fn of(path: &Path, array: &Array) -> Result<Self, DataError> {
        let bytes = matches!(array.elements, Elements::Bytes(_));
        let (shape, channels_last) = match array.shape[..] {
            [_, features] => (vec![features], false),
            [_, height, width] => (vec![1, height, width], false),
            [_, height, width, channels @ (1 | 3)] if !matches!(height, 1 | 3) => {
                (vec![channels, height, width], true)
            }
            [_, channels, height, width] if !bytes || matches!(channels, 1 | 3) => {
                (vec![channels, height, width], false)
            }
            [_, _, _, _] => {
                let expected = "images of 1 or 3 channels, [examples, channels, height, width] or [examples, height, \
                                width, channels] (x[..., :3] leaves a fourth one out)";
                let found = format!("bytes of shape {:?}", array.shape);
                return Err(wrong(path, expected, found));
            }
            _ => {
                let expected = "[examples, numbers], [examples, height, width], [examples, channels, height, width] \
                                or [examples, height, width, channels]";
                let found = format!("shape {:?}", array.shape);
                return Err(wrong(path, expected, found));
            }
        };
        match shape.iter().product() {
            0 => Err(wrong(path, "at least one number an example", "none")),
            features => Ok(Self {
                shape,
                channels_last,
                features,
            }),
        }
    }

    /// Where the array has the number `at` of the column.
    fn place(&self, at: usize) -> usize {
        if !self.channels_last {
            return at;
        }
        let (channels, within) = (self.shape[0], at % self.features);
        let plane = self.features / channels;
        at - within + within % plane * channels + within / plane
    }

    /// Bytes with the channels of an example one after the other.
    fn planes(&self, bytes: &[u8]) -> Vec<u8> {
        let places = (0..bytes.len()).map(|at| self.place(at));
        places.map(|at| bytes[at]).collect()
    }

    fn check_finite(&self, path: &Path, elements: &Elements) -> Result<(), DataError> {
        let mut all = 0..elements.len();
        let Some(at) = all.find(|&at| !elements.number(at).is_finite()) else {
            return Ok(());
        };
        let found = format!("{} in example {}", elements.number(at), at / self.features);
        Err(wrong(path, "finite numbers", found))
    }

    /// The numbers of the column.
    fn scaled(
        &self,
        path: &Path,
        elements: &Elements,
        scale: &NumberScale,
    ) -> Result<Vec<f32>, DataError> {
        let numbers = elements.scaled(scale, self.features, |at| self.place(at));
        if scale.is_finite() && numbers.iter().all(|x| x.is_finite()) {
            return Ok(numbers);
        }
        let larger = |a: &usize, b: &usize| {
            let [a, b] = [a, b].map(|&at| elements.number(at).abs());
            a.total_cmp(&b)
        };
        // Of equal ones, the first.
        let at = (0..elements.len()).rev().max_by(larger).unwrap_or(0);
        let found = format!(
            "{:e} in example {}",
            elements.number(at),
            at / self.features
        );
        let expected = "numbers that are at most 3.4e38 after scaling";
        Err(wrong(path, expected, found))
    }
}

fn images(
    bytes: &[u8],
    layout: Layout,
    reading: &ReadOptions,
    train: &[usize],
) -> Result<Column, DataError> {
    let bytes = layout.planes(bytes);
    let Layout {
        shape, features, ..
    } = layout;
    let scale = reading.byte_scale(|| {
        let chosen = sample(train.len(), SAMPLE).into_iter().map(|at| train[at]);
        let images = chosen.flat_map(|i| &bytes[i * features..(i + 1) * features]);
        let sample: Vec<u8> = images.copied().collect();
        Ok(of_channels(&sample, shape[0], features / shape[0]))
    })?;
    Ok(Column::bytes("x", shape, bytes, scale)?)
}

fn numbers(
    path: &Path,
    elements: &Elements,
    layout: Layout,
    reading: &ReadOptions,
    train: &[usize],
) -> Result<(Column, NumberScale), DataError> {
    layout.check_finite(path, elements)?;
    let of_each = (layout.features, layout.shape.len() == 1);
    let number = |at| elements.number(layout.place(at));
    let scale = reading.number_scale(train, of_each, number)?;
    let numbers = layout.scaled(path, elements, &scale)?;
    let column = Column::floats("x", layout.shape, numbers)?;
    Ok((column.with_black(scale.black()), scale))
}

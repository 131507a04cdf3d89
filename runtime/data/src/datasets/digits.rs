//! Digits of several domains: the task of ADCOL (Li et al., 2023) and FedBN (Li et al., 2021).
//!
//! Each domain is brought to 28x28x3 in `[-1, 1]` and split 4:1 at random. The training sets are then
//! cut down to the size of the smallest by random sampling. The groups are the domains. Domains whose
//! files are missing are left out, with a note.

use rayon::prelude::*;

use super::hold_out::hold_out;
use super::{mnist, mnist_m, svhn, synth, usps};
use crate::formats::images::resize;
use crate::source::Request;
use crate::{Column, DataError, Dataset, DatasetInfo, Examples, Scale};

pub(super) const DIGITS: DatasetInfo = DatasetInfo {
    name: "digits",
    doc: "digits of those of mnist, svhn, usps, synth-digits and mnist-m that are there, grouped by \
          domain (ADCOL: Li et al., 2023)",
    classes: 10,
    class_names: super::DIGITS,
    shape: &SHAPE,
    files: &["mnist", "svhn", "usps", "mnist_m"],
    how: "Get any of the datasets mnist, svhn, usps and mnist-m",
    read,
    ..DatasetInfo::BASE
};

const SHAPE: [usize; 3] = [3, 28, 28];
const DOMAINS: [&DatasetInfo; 5] = [
    &mnist::MNIST,
    &svhn::SVHN,
    &usps::USPS,
    &synth::GREY,
    &mnist_m::MNIST_M,
];

fn read(request: &Request<'_>) -> Result<Dataset, DataError> {
    let mut found = Vec::new();
    for domain in DOMAINS {
        match request.load(domain) {
            Ok(data) => found.push((domain, data)),
            Err(error @ DataError::Missing { .. }) => {
                let first = error.to_string();
                let first = first.lines().take(2).collect::<Vec<_>>().join(" ");
                let name = domain.name;
                request.notes.add(format!("digits without {name}: {first}"));
            }
            Err(error) => return Err(error),
        }
    }
    // Generated digits alone are a single domain.
    if found.iter().all(|(domain, _)| domain.files.is_empty()) {
        return Err(request.missing(request.paths()?));
    }
    let splits: Vec<_> = found
        .iter()
        .enumerate()
        .map(|(domain, (_, data))| {
            hold_out(request.seed, domain, data.train.len() + data.test.len())
        })
        .collect();
    let smallest = splits
        .iter()
        .map(|(train, _)| train.len())
        .min()
        .unwrap_or(0);
    let (mut train, mut test) = (Images::default(), Images::default());
    for (domain, ((_, data), (in_train, in_test))) in found.iter().zip(&splits).enumerate() {
        train.append(data, &in_train[..smallest], domain as u32)?;
        test.append(data, in_test, domain as u32)?;
    }
    let names = found.iter().map(|(domain, _)| domain.name);
    let (train_groups, test_groups) = (train.groups(), test.groups());
    let data = request.dataset(train.examples(), test.examples());
    Ok(data.with_groups(train_groups, test_groups, names)?)
}

#[derive(Default)]
struct Images {
    pixels: Vec<u8>,
    labels: Vec<u16>,
    groups: Vec<u32>,
}

impl Images {
    /// Appends some examples of a dataset, of which the test examples follow the training ones.
    fn append(&mut self, data: &Dataset, indices: &[usize], group: u32) -> Result<(), DataError> {
        let features = SHAPE.iter().product::<usize>();
        let start = self.pixels.len();
        self.pixels.resize(start + indices.len() * features, 0);
        let place = |index: usize| match index.checked_sub(data.train.len()) {
            None => (&data.train, index),
            Some(index) => (&data.test, index),
        };
        let images = self.pixels[start..]
            .par_chunks_exact_mut(features)
            .zip(indices);
        images.try_for_each(|(image, &index)| {
            let (examples, index) = place(index);
            convert(examples.x(), examples.image_shape()?, index, image)
        })?;
        self.groups.resize(self.groups.len() + indices.len(), group);
        self.labels.extend(indices.iter().map(|&index| {
            let (examples, index) = place(index);
            examples.labels()[index]
        }));
        Ok(())
    }

    fn groups(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.groups)
    }

    fn examples(self) -> Examples {
        let scale = Scale::normalised(&[0.5], &[0.5]);
        Examples::of_images(SHAPE, self.pixels, self.labels, scale)
    }
}

/// The bytes of an image of any size, grey or in colour, as those of one of [`SHAPE`].
fn convert(
    column: &Column,
    [channels, height, width]: [usize; 3],
    index: usize,
    out: &mut [u8],
) -> Result<(), DataError> {
    let numbers;
    let bytes = match column.image(index) {
        Some(bytes) => bytes,
        None => {
            let mut values = vec![0.0; column.features()];
            column.gather_into(&[index], &mut values)?;
            // From [-1, 1].
            let byte = |v: &f32| ((v + 1.0) * 127.5).round() as u8;
            numbers = values.iter().map(byte).collect::<Vec<u8>>();
            &numbers
        }
    };
    let [_, to_height, to_width] = SHAPE;
    let planes = out.chunks_exact_mut(to_height * to_width).enumerate();
    for (channel, plane) in planes {
        let from = channel % channels * height * width;
        let from = &bytes[from..from + height * width];
        resize(from, [height, width], [to_height, to_width], plane);
    }
    Ok(())
}

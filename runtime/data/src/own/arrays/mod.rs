//! Arrays of NumPy: `.npy` files and `.npz` archives.

mod elements;
mod npy;
mod npz;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::hold_out::{hold_out, split};
use super::labels::{Names, check_test, notes};
use super::normalize::{of_channels, sample};
use super::{NumberScale, OwnDataError, ReadOptions};
use crate::{Column, DataError, Dataset, Examples};
use elements::Elements;
use npy::Array;

/// The scale of bytes is found on so many images.
const SAMPLE: usize = 1000;

/// The arrays of one part, and what errors call them.
struct Part {
    x: (PathBuf, Array),
    y: (PathBuf, Array),
    clients: Option<(PathBuf, Array)>,
}

/// Reads `[X, Y]`, `[X, Y, TEST_X, TEST_Y]` or `[ARCHIVE]`.
pub(super) fn read(
    files: &[PathBuf],
    reading: &ReadOptions,
    seed: u64,
) -> Result<Dataset, DataError> {
    let mut note = None;
    let (train, test) = match files {
        [archive] => {
            let parts = npz::parts(archive)?;
            reading.check_test_share(archive, parts.test.is_some())?;
            note = parts.note;
            (parts.train, parts.test)
        }
        [x, y] => (plain(x, y)?, None),
        [x, y, test_x, test_y] => (plain(x, y)?, Some(plain(test_x, test_y)?)),
        _ => {
            return Err(OwnDataError::Place {
                text: "npy:".to_owned(),
                syntax: "npy:X.npy,Y.npy or npy:X.npy,Y.npy,TEST_X.npy,TEST_Y.npy",
            }
            .into());
        }
    };
    let in_train = train.x.1.shape.first().copied().unwrap_or(0);
    let (mut classes, mut clients) = (Names::default(), Names::default());
    let grouped = train.clients.is_some();
    let (y_path, part_of) = (
        train.y.0.display().to_string(),
        [Some(&train), test.as_ref()],
    );
    for part in part_of.into_iter().flatten() {
        part.name(&mut classes, &mut clients, grouped)?;
    }
    let test_y = test.as_ref().map(|test| test.y.0.clone());
    let x = joined(train.x, test.map(|test| test.x))?;
    let (names, labels) = classes.classes(&y_path)?;
    let (group_names, groups) = clients.sorted();
    let groups = grouped.then_some(groups);
    let is_test: Vec<bool> = match test_y {
        Some(_) => (0..labels.len()).map(|i| i >= in_train).collect(),
        None => hold_out(&labels, groups.as_deref(), reading.test_share(), seed),
    };
    let (train, test) = split(&is_test);
    let (whole, scale) = column(x, reading, &train)?;
    let examples = |part: &[usize]| {
        let labels: Vec<u16> = part.iter().map(|&i| labels[i]).collect();
        Examples::of_columns(vec![whole.subset(&Arc::from(part))], labels)
    };
    let (in_train, in_test) = (examples(&train)?, examples(&test)?);
    if let Some(path) = test_y {
        check_test(&path, &names, in_train.labels(), in_test.labels())?;
    }
    let about = notes(&names, in_train.labels(), in_test.labels());
    let mut data = Dataset::new("", in_train, in_test, names);
    if let Some(groups) = groups {
        let of = |part: &[usize]| -> Vec<u32> { part.iter().map(|&i| groups[i]).collect() };
        data = data.with_groups(of(&train), of(&test), group_names)?;
    }
    data.notes = note.into_iter().chain(about).collect();
    data.numbers = scale;
    Ok(data)
}

fn plain(x: &Path, y: &Path) -> Result<Part, DataError> {
    let read = |path: &Path| Ok::<_, DataError>((path.to_path_buf(), npy::read_file(path)?));
    Ok(Part {
        x: read(x)?,
        y: read(y)?,
        clients: None,
    })
}

impl Part {
    /// Adds the names of the examples' classes and clients.
    fn name(
        &self,
        classes: &mut Names,
        clients: &mut Names,
        grouped: bool,
    ) -> Result<(), DataError> {
        let examples = self.x.1.shape.first().copied().unwrap_or(0);
        if examples == 0 {
            let path = self.x.0.clone();
            return Err(DataError::Empty { path });
        }
        let clients_of = match (&self.clients, grouped) {
            (Some(of), true) => Some(of),
            (None, true) => {
                return Err(npy::wrong(
                    &self.x.0,
                    "an array of clients for the test part",
                    "none",
                ));
            }
            (_, false) => None,
        };
        let named = [Some((&self.y, classes)), clients_of.map(|of| (of, clients))];
        for ((path, array), names) in named.into_iter().flatten() {
            let one = array.shape.iter().skip(1).all(|&n| n == 1);
            if array.shape.first() != Some(&examples) || !one {
                let expected = format!(
                    "one value for each of the {examples} examples of {}",
                    self.x.0.display()
                );
                return Err(npy::wrong(
                    path,
                    expected,
                    format!("shape {:?}", array.shape),
                ));
            }
            match &array.elements {
                Elements::Bytes(of) => of.iter().for_each(|n| names.push(&n.to_string())),
                Elements::Integers(of) => of.iter().for_each(|n| names.push(&n.to_string())),
                Elements::Texts(of) => of.iter().for_each(|text| names.push(text)),
                floats => {
                    for x in (0..floats.len()).map(|at| floats.number(at)) {
                        if x.fract() != 0.0 {
                            return Err(npy::wrong(path, "whole numbers", x.to_string()));
                        }
                        // There is a zero below zero, too.
                        names.push(&(x + 0.0).to_string());
                    }
                }
            }
        }
        Ok(())
    }
}

/// The training inputs with the test inputs after them.
fn joined(
    train: (PathBuf, Array),
    test: Option<(PathBuf, Array)>,
) -> Result<(PathBuf, Array), DataError> {
    let (path, mut train) = train;
    let Some((test_path, test)) = test else {
        return Ok((path, train));
    };
    let expected = format!(
        "the type and shape of {}, {}",
        path.display(),
        train.describe()
    );
    let (found, more) = (test.describe(), test.shape[0]);
    if train.shape[1..] != test.shape[1..] || !train.elements.extend(test.elements) {
        return Err(npy::wrong(&test_path, expected, found));
    }
    train.shape[0] += more;
    Ok((path, train))
}

/// The column `x`, and the scale of its numbers. Bytes of rank 3 or 4 are images.
fn column(
    (path, array): (PathBuf, Array),
    reading: &ReadOptions,
    train: &[usize],
) -> Result<(Column, Option<NumberScale>), DataError> {
    let images = matches!(array.elements, Elements::Bytes(_));
    let (shape, last) = match array.shape[..] {
        [_, features] => (vec![features], false),
        [_, height, width] => (vec![1, height, width], false),
        [_, height, width, channels @ (1 | 3)] if !matches!(array.shape[1], 1 | 3) => {
            (vec![channels, height, width], true)
        }
        [_, channels, height, width] if !images || matches!(channels, 1 | 3) => {
            (vec![channels, height, width], false)
        }
        [_, _, _, _] => {
            let expected = "images of 1 or 3 channels, [examples, channels, height, width] or [examples, height, width, \
                            channels] (x[..., :3] leaves a fourth one out)";
            let found = format!("bytes of shape {:?}", array.shape);
            return Err(npy::wrong(&path, expected, found));
        }
        _ => {
            let expected = "[examples, numbers], [examples, height, width], [examples, channels, height, width] \
                            or [examples, height, width, channels]";
            return Err(npy::wrong(
                &path,
                expected,
                format!("shape {:?}", array.shape),
            ));
        }
    };
    let features: usize = shape.iter().product();
    if features == 0 {
        return Err(npy::wrong(&path, "at least one number an example", "none"));
    }
    let plane = features / shape[0];
    let elements = match array.elements {
        Elements::Bytes(mut bytes) if shape.len() == 3 => {
            if last {
                bytes = planes(&bytes, shape[0], features);
            }
            let scale = reading.byte_scale(|| {
                let chosen = sample(train.len(), SAMPLE).into_iter().map(|at| train[at]);
                let images = chosen.flat_map(|i| &bytes[i * features..(i + 1) * features]);
                let sample: Vec<u8> = images.copied().collect();
                Ok(of_channels(&sample, shape[0], plane))
            })?;
            return Ok((Column::bytes("x", shape, bytes, scale)?, None));
        }
        Elements::Texts(_) => return Err(npy::wrong(&path, "numbers", "texts")),
        elements => elements,
    };
    let mut all = 0..elements.len();
    if let Some(at) = all.find(|&at| !elements.number(at).is_finite()) {
        let found = format!("{} in example {}", elements.number(at), at / features);
        return Err(npy::wrong(&path, "finite numbers", found));
    }
    // Where in the array a number of the column is.
    let place = |i: usize| match last {
        false => i,
        true => {
            let at = i % features;
            i - at + at % plane * shape[0] + at / plane
        }
    };
    let scale = reading.number_scale(train, (features, shape.len() == 1), |i| {
        elements.number(place(i))
    })?;
    let numbers = elements.scaled(&scale, features, place);
    if !scale.is_finite() || numbers.iter().any(|x| !x.is_finite()) {
        let larger = |a: &usize, b: &usize| {
            let [a, b] = [a, b].map(|&at| elements.number(at).abs());
            a.total_cmp(&b)
        };
        // Of equal ones, the first.
        let at = (0..elements.len()).rev().max_by(larger).unwrap_or(0);
        let found = format!("{:e} in example {}", elements.number(at), at / features);
        let expected = "numbers that are at most 3.4e38 after scaling";
        return Err(npy::wrong(&path, expected, found));
    }
    Ok((Column::floats("x", shape, numbers)?, Some(scale)))
}

/// Images whose channels come last, with their channels first.
fn planes<T: Copy>(elements: &[T], channels: usize, features: usize) -> Vec<T> {
    let images = elements.chunks_exact(features);
    let image = |image: &[T]| -> Vec<T> {
        let plane = |channel: usize| image.iter().skip(channel).step_by(channels).copied();
        (0..channels).flat_map(plane).collect()
    };
    images.flat_map(image).collect()
}

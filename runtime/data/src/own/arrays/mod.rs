//! Arrays of NumPy: `.npy` files and `.npz` archives.

mod npy;
mod npz;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::hold_out::{hold_out, split};
use super::labels::{Names, notes};
use super::normalize::{of_channels, sample};
use super::{OwnDataError, ReadOptions};
use crate::{Column, DataError, Dataset, Examples};
use npy::{Array, Elements};

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
    let (train, test) = match files {
        [archive] => {
            let parts = npz::parts(archive)?;
            reading.check_test_share(archive, parts.1.is_some())?;
            parts
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
    let has_test = test.is_some();
    let x = joined(train.x, test.map(|test| test.x))?;
    let (names, labels) = classes.classes(&y_path)?;
    let (group_names, groups) = clients.sorted();
    let groups = grouped.then_some(groups);
    let is_test: Vec<bool> = match has_test {
        true => (0..labels.len()).map(|i| i >= in_train).collect(),
        false => hold_out(&labels, groups.as_deref(), reading.test_share(), seed),
    };
    let (train, test) = split(&is_test);
    let whole = column(x, reading, &train)?;
    let examples = |part: &[usize]| {
        let labels: Vec<u16> = part.iter().map(|&i| labels[i]).collect();
        Examples::of_columns(vec![whole.subset(&Arc::from(part))], labels)
    };
    let (in_train, in_test) = (examples(&train)?, examples(&test)?);
    let notes = notes(&names, in_train.labels(), in_test.labels());
    let mut data = Dataset::new("", in_train, in_test, names);
    if let Some(groups) = groups {
        let of = |part: &[usize]| -> Vec<u32> { part.iter().map(|&i| groups[i]).collect() };
        data = data.with_groups(of(&train), of(&test), group_names)?;
    }
    data.notes = notes;
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
                Elements::Floats(of) => match of.iter().find(|x| x.fract() != 0.0) {
                    None => of.iter().for_each(|x| names.push(&x.to_string())),
                    Some(x) => return Err(npy::wrong(path, "whole numbers", x.to_string())),
                },
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
    let differ = || npy::wrong(&test_path, &*expected, test.describe());
    if train.shape[1..] != test.shape[1..] {
        return Err(differ());
    }
    match (&mut train.elements, &test.elements) {
        (Elements::Bytes(all), Elements::Bytes(more)) => all.extend(more),
        (Elements::Floats(all), Elements::Floats(more)) => all.extend(more),
        (Elements::Integers(all), Elements::Integers(more)) => all.extend(more),
        _ => return Err(differ()),
    }
    train.shape[0] += test.shape[0];
    Ok((path, train))
}

/// The column `x`. Bytes of rank 3 or 4 are images.
fn column(
    (path, array): (PathBuf, Array),
    reading: &ReadOptions,
    train: &[usize],
) -> Result<Column, DataError> {
    let (shape, last) = match array.shape[..] {
        [_, features] => (vec![features], false),
        [_, height, width] => (vec![1, height, width], false),
        [_, height, width, channels @ (1 | 3)] if !matches!(array.shape[1], 1 | 3) => {
            (vec![channels, height, width], true)
        }
        [_, channels, height, width] => (vec![channels, height, width], false),
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
    let mut numbers = match array.elements {
        Elements::Bytes(mut bytes) if shape.len() == 3 => {
            if last {
                bytes = planes(&bytes, shape[0], features);
            }
            let plane = features / shape[0];
            let scale = reading.normalize.of_bytes(|| {
                let chosen = sample(train.len(), SAMPLE).into_iter().map(|at| train[at]);
                let images = chosen.flat_map(|i| &bytes[i * features..(i + 1) * features]);
                let sample: Vec<u8> = images.copied().collect();
                Ok(of_channels(&sample, shape[0], plane))
            })?;
            return Ok(Column::bytes("x", shape, bytes, scale)?);
        }
        Elements::Bytes(bytes) => bytes.into_iter().map(f32::from).collect(),
        Elements::Integers(numbers) => numbers.into_iter().map(|n| n as f32).collect(),
        Elements::Floats(numbers) => numbers,
        Elements::Texts(_) => return Err(npy::wrong(&path, "numbers", "texts")),
    };
    if let Some(at) = numbers.iter().position(|x| !x.is_finite()) {
        let found = format!("{} in example {}", numbers[at], at / features);
        return Err(npy::wrong(&path, "finite numbers", found));
    }
    if last {
        numbers = planes(&numbers, shape[0], features);
    }
    let of_train: Vec<&[f32]> = train
        .iter()
        .map(|&i| &numbers[i * features..(i + 1) * features])
        .collect();
    let scale = reading.normalize.of_numbers(&of_train, shape.len() == 1)?;
    for row in numbers.chunks_exact_mut(features) {
        scale.apply(row);
    }
    Ok(Column::floats("x", shape, numbers)?)
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

//! Arrays of NumPy: `.npy` files and `.npz` archives.

mod column;
mod elements;
mod npy;
mod npz;

use std::path::{Path, PathBuf};

use super::labels::Names;
use super::{OwnDataError, ReadOptions};
use crate::{Column, DataError, Dataset, Examples, InputEncoding};
use column::column;
use elements::Elements;
use npy::Array;

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
    let groups = grouped.then_some((group_names, groups));
    let of_clients = groups.as_ref().map(|(_, of)| &of[..]);
    let all = 0..labels.len();
    let is_test = test_y
        .as_ref()
        .map(|_| all.map(|i| i >= in_train).collect());
    let parts = reading.parts(is_test, (&labels, of_clients), seed);
    let (x, scale) = column(x, reading, &parts.train)?;
    let examples = Examples::of_columns(vec![x], labels)?;
    let mut data = parts.dataset(&examples, names, groups, test_y.as_deref())?;
    data.notes = note.into_iter().chain(data.notes).collect();
    data.numbers = scale;
    Ok(data)
}

impl InputEncoding {
    /// The examples of a file `*.npy` as a column `x`, for a model whose training examples had this encoding. Channels
    /// may come first or last, or the numbers of an example may be in one row, channel by channel.
    ///
    /// # Errors
    /// The file is damaged, or its examples have another shape or other elements than those of training.
    pub fn read_array(&self, path: &Path) -> Result<Column, DataError> {
        column::encoded(path, npy::read_file(path)?, self)
    }
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
        DataError::empty_if(examples == 0, &self.x.0)?;
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

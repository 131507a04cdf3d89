//! JSON files of LEAF (Caldas et al., 2018): FEMNIST, Shakespeare, and others whose inputs are numbers.
//!
//! A file lists users, and for each user its inputs `x` and its targets `y`. Users are the clients. Inputs are
//! numbers, of which 784 are an image of 28x28 (FEMNIST), or texts of equal length whose next character is the
//! target (Shakespeare).

mod json;
mod text;

use std::fs;
use std::path::{Path, PathBuf};

pub use text::LETTERS;

use super::file_advice::of_own_file;
use super::labels::Names;
use super::{DataLocation, NumberScale, OwnDataError, OwnFileError, ReadOptions};
use crate::{Column, DataError, Dataset, Examples};
use json::{Input, Inputs, LeafFile};

/// The number of inputs of FEMNIST.
const FEMNIST: usize = 28 * 28;

/// The note that texts were split here. LEAF's scripts leave out the windows that would be in both parts.
const OVERLAP: &str = "texts for testing overlap with those for training, so the test accuracy is too high; the \
                       folders `train` and `test` of LEAF's scripts do not overlap";

/// Reads `DIR/train` and `DIR/test`, these folders in `DIR/data`, or the files of `DIR` itself.
pub(super) fn read(dir: &Path, reading: &ReadOptions, seed: u64) -> Result<Dataset, DataError> {
    if !dir.is_dir() {
        return Err(DataLocation::missing(dir, "a folder"));
    }
    let of_part = |part: &str| {
        let places = [dir.join(part), dir.join("data").join(part)];
        places.into_iter().find(|place| place.is_dir())
    };
    let mut all = Leaves::default();
    all.add(&of_part("train").unwrap_or_else(|| dir.to_path_buf()))?;
    if let Some(test) = of_part("test").filter(|_| of_part("train").is_some()) {
        let in_train = all.count;
        all.in_train = Some(in_train);
        all.add(&test)?;
        DataError::empty_if(all.count == in_train, &test)?;
    }
    reading.check_test_share(dir, all.in_train.is_some())?;
    all.dataset(dir, reading, seed)
}

/// All examples that have been read.
#[derive(Default)]
struct Leaves {
    inputs: Option<Inputs>,
    classes: Names,
    clients: Names,
    count: usize,
    /// How many examples come from the training part, if there is a test part.
    in_train: Option<usize>,
    /// The number of numbers or characters of an input.
    width: usize,
}

impl Leaves {
    /// Adds the examples of all JSON files of a folder.
    fn add(&mut self, dir: &Path) -> Result<(), DataError> {
        let files = json_files(dir)?;
        if files.is_empty() {
            return Err(OwnDataError::NoLeafFiles {
                dir: dir.to_path_buf(),
            }
            .into());
        }
        files.iter().try_for_each(|file| self.add_file(file))
    }

    fn add_file(&mut self, path: &Path) -> Result<(), DataError> {
        let file: LeafFile = crate::formats::record::json(path).map_err(of_own_file)?;
        for (user, data) in file.user_data {
            let wrong = |expected: String, found: String| OwnFileError::Leaf {
                path: path.to_path_buf(),
                user: user.clone(),
                expected,
                found,
            };
            let examples = data.y.len();
            if data.x.len() != examples {
                let found = data.x.len().to_string();
                return Err(wrong(format!("{examples} inputs, one for each target"), found).into());
            }
            for (input, target) in data.x.into_iter().zip(data.y) {
                if self.count == 0 {
                    self.width = input.len();
                }
                let width = self.width;
                let found = input.describe();
                if width == 0 {
                    return Err(wrong("inputs that are not empty".to_owned(), found).into());
                }
                if let Some(at) = input.infinite() {
                    let found = format!("a larger one, number {} of an input", at + 1);
                    return Err(wrong("numbers of at most 3.4e38".to_owned(), found).into());
                }
                if matches!(input, Input::Text(_)) && target.is_number {
                    let expected = "the next character as the target of each text (files of images by name, as of \
                                    CelebA, are not read)";
                    let found = format!("the number {}", target.name);
                    return Err(wrong(expected.to_owned(), found).into());
                }
                let all = self.inputs.get_or_insert_with(|| input.none());
                if input.len() != width || !all.push(input) {
                    return Err(
                        wrong(format!("inputs of one kind and of length {width}"), found).into(),
                    );
                }
                self.classes.push(&target.name);
                self.clients.push(&user);
                self.count += 1;
            }
        }
        Ok(())
    }

    fn dataset(self, dir: &Path, reading: &ReadOptions, seed: u64) -> Result<Dataset, DataError> {
        let Some(inputs) = self.inputs else {
            let path = dir.to_path_buf();
            return Err(DataError::Empty { path });
        };
        let (group_names, groups) = self.clients.sorted();
        let (names, labels) = match inputs {
            Inputs::Numbers(_) => self.classes.classes(&dir.display().to_string())?,
            Inputs::Texts(_) => text::classes(self.classes, dir)?,
        };
        let all = 0..labels.len();
        let is_test = self.in_train.map(|n| all.map(|i| i >= n).collect());
        let parts = reading.parts(is_test, (&labels, Some(&groups)), seed);
        let is_text = matches!(inputs, Inputs::Texts(_));
        let (columns, scale) = match inputs {
            Inputs::Texts(texts) => (text::columns(&texts, self.width)?, None),
            Inputs::Numbers(numbers) => {
                let (column, scale) = numbers_column(numbers, self.width, reading, &parts.train)?;
                (vec![column], Some(scale))
            }
        };
        let examples = Examples::of_columns(columns, labels)?;
        let mut data = parts.dataset(&examples, names, Some((group_names, groups)), None)?;
        if is_text {
            // Those on classes are left out: most characters are rare.
            data.notes = match parts.divided && self.in_train.is_none() {
                true => vec![OVERLAP.to_owned()],
                false => vec![],
            };
        }
        data.numbers = scale;
        Ok(data)
    }
}

fn numbers_column(
    mut numbers: Vec<f32>,
    width: usize,
    reading: &ReadOptions,
    train: &[usize],
) -> Result<(Column, NumberScale), DataError> {
    let image = width == FEMNIST;
    let number = |at: usize| f64::from(numbers[at]);
    let scale = reading.number_scale(train, (width, !image), number)?;
    numbers
        .chunks_exact_mut(width)
        .for_each(|row| scale.apply(row));
    let shape = if image { vec![1, 28, 28] } else { vec![width] };
    let column = Column::floats("x", shape, numbers)?;
    Ok((column.with_black(scale.black()), scale))
}

/// The JSON files of a folder, in the order of their names.
fn json_files(dir: &Path) -> Result<Vec<PathBuf>, DataError> {
    let unreadable = DataError::unreadable(dir);
    let mut files = vec![];
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.to_string_lossy();
        if name.ends_with(".json") || name.ends_with(".json.gz") {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

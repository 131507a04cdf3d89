//! The encoding of the rows of a table as numbers.

use std::path::Path;

use fedround_names::nearest;
use serde::{Deserialize, Serialize};

use super::Roles;
use super::scan::Scan;
use super::sheet::{Format, Row, Sheet, number};
use crate::notes::start;
use crate::own::normalize::moments;
use crate::own::{Normalize, OwnDataError, OwnFileError};
use crate::{Column, DataError};

/// The name of the category of missing values.
const GAP: &str = "(missing)";

/// How the rows of a table become inputs of a model.
///
/// A column of numbers is one input. A column of texts has an input for each of its distinct texts, which is
/// 1 where a row has that text, and else 0 (one-hot).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableEncoder {
    inputs: Vec<Input>,
}

/// One column of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Input {
    /// Its place in the training table, or in another one that is encoded.
    column: usize,
    name: String,
    kind: Kind,
    /// Whether a value may be missing.
    gaps: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// A number `x`, which becomes `(x - mean) / std`. `fill` takes the place of a missing one.
    Number { mean: f64, std: f64, fill: f64 },
    /// One of these texts, in their order.
    Texts(Vec<String>),
}

/// Encoded rows. Numbers stay in double precision until they are scaled, so that large numbers that differ
/// little, such as times, keep their differences.
#[derive(Default)]
pub(super) struct EncodedRows {
    /// All inputs, with 0 in the place of each number.
    x: Vec<f32>,
    /// The numbers of one row after another. A missing one is not a number.
    numbers: Vec<f64>,
}

impl Input {
    fn width(&self) -> usize {
        match &self.kind {
            Kind::Number { .. } => 1,
            Kind::Texts(texts) => texts.len(),
        }
    }
}

impl TableEncoder {
    pub(super) fn new(sheet: &Sheet, roles: &Roles, scan: &Scan) -> Result<Self, OwnDataError> {
        let input = |&column: &usize| {
            let gaps = scan.has_gaps(column);
            let kind = match scan.texts(column) {
                None => Kind::Number {
                    mean: 0.0,
                    std: 1.0,
                    fill: 0.0,
                },
                Some(mut texts) => {
                    if gaps && !texts.iter().any(|text| text == GAP) {
                        texts.push(GAP.to_owned());
                    }
                    Kind::Texts(texts)
                }
            };
            Input {
                column,
                name: sheet.columns()[column].clone(),
                kind,
                gaps,
            }
        };
        let inputs = roles.inputs.iter().map(input).collect();
        Ok(Self { inputs })
    }

    /// The number of inputs.
    pub fn width(&self) -> usize {
        self.inputs.iter().map(Input::width).sum()
    }

    /// The name of each input: a column's, or `column=text`.
    pub fn names(&self) -> Vec<String> {
        let names = self.inputs.iter().flat_map(|input| match &input.kind {
            Kind::Number { .. } => vec![input.name.clone()],
            Kind::Texts(texts) => {
                let of = |text: &String| format!("{}={text}", input.name);
                texts.iter().map(of).collect()
            }
        });
        names.collect()
    }

    /// The columns that become inputs, in the order of the inputs: the name of each, and its texts unless it holds
    /// numbers.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, Option<&[String]>)> {
        self.inputs.iter().map(|input| {
            let texts = match &input.kind {
                Kind::Number { .. } => None,
                Kind::Texts(texts) => Some(texts.as_slice()),
            };
            (input.name.as_str(), texts)
        })
    }

    /// Appends the inputs of a row of the training or test table.
    pub(super) fn append(
        &self,
        sheet: &Sheet,
        row: &Row<'_>,
        rows: &mut EncodedRows,
    ) -> Result<(), OwnDataError> {
        let mut inputs = self.inputs.iter();
        inputs.try_for_each(|input| input.append(sheet, row, rows))
    }

    /// Finds the scale of each number on the rows `train` of the table at `path`, unless it is known, and scales
    /// all rows. Missing numbers become the mean of the training rows.
    pub(super) fn standardise(
        &mut self,
        normalize: Option<&Normalize>,
        rows: EncodedRows,
        train: &[usize],
        path: &Path,
    ) -> Result<Vec<f32>, OwnDataError> {
        let EncodedRows { mut x, numbers } = rows;
        let width = self.width();
        let is_number = |input: &&Input| matches!(input.kind, Kind::Number { .. });
        let columns = self.inputs.iter().filter(is_number).count();
        // The input, and its place among the numbers.
        let (mut at, mut number) = (0, 0);
        for input in &mut self.inputs {
            let next = at + input.width();
            if let Kind::Number { mean, std, fill } = &mut input.kind {
                let column = || numbers.iter().copied().skip(number).step_by(columns);
                let known = train.iter().map(|&row| numbers[row * columns + number]);
                if let Some(normalize) = normalize {
                    let (train_mean, train_std) = moments(known.filter(|x| !x.is_nan()));
                    *fill = train_mean;
                    (*mean, *std) = match normalize {
                        Normalize::Auto => (train_mean, train_std),
                        Normalize::None => (0.0, 1.0),
                        Normalize::By { mean, std } => match (&mean[..], &std[..]) {
                            ([mean], [std]) => (f64::from(*mean), f64::from(*std)),
                            _ => return Err(OwnDataError::OneScale { found: mean.len() }),
                        },
                    };
                }
                for (to, value) in x.iter_mut().skip(at).step_by(width).zip(column()) {
                    *to = scaled(value, (*mean, *std, *fill)).ok_or_else(|| {
                        let known = column().filter(|x| !x.is_nan());
                        OwnFileError::TooLarge {
                            path: path.to_path_buf(),
                            column: input.name.clone(),
                            found: known
                                .max_by(|a, b| a.abs().total_cmp(&b.abs()))
                                .unwrap_or(0.0),
                        }
                    })?;
                }
                number += 1;
            }
            at = next;
        }
        Ok(x)
    }

    /// The same for the columns of another table, which has them in any order.
    pub(super) fn of_columns(mut self, sheet: &Sheet) -> Result<Self, OwnDataError> {
        for input in &mut self.inputs {
            input.column = sheet.find(&input.name)?;
        }
        Ok(self)
    }

    /// The place of each column in the table.
    pub(super) fn columns(&self) -> Vec<usize> {
        self.inputs.iter().map(|input| input.column).collect()
    }

    /// The same encoding, with which a number may be missing in any column: it becomes the mean of the training rows,
    /// also where none was missing in training. A missing text has an input of its own only where one was missing in
    /// training, and is an error elsewhere.
    #[must_use]
    pub fn filling_numbers(mut self) -> Self {
        for input in &mut self.inputs {
            input.gaps |= matches!(input.kind, Kind::Number { .. });
        }
        self
    }

    /// The rows of another CSV file, or of a file `*.parquet`, as a column `x`. It has a header with the same
    /// names, in any order. Other columns, such as the target, do not matter.
    ///
    /// # Errors
    /// A column is missing, or a value is not one that the training table could have.
    pub fn encode(&self, path: &Path) -> Result<Column, DataError> {
        let sheet = Sheet::open(path, Format::of(path))?;
        let encoder = self.clone().of_columns(&sheet)?;
        let mut rows = EncodedRows::default();
        for row in sheet.rows() {
            let row = row?;
            for input in &encoder.inputs {
                input.append(&sheet, &row, &mut rows)?;
                if let Kind::Number { mean, std, fill } = input.kind
                    && let (Some(value), Some(to)) = (rows.numbers.pop(), rows.x.last_mut())
                {
                    *to = scaled(value, (mean, std, fill)).ok_or_else(|| {
                        let expected = "a number that is at most 3.4e38 after scaling";
                        input.wrong((&sheet, &row), expected, None)
                    })?;
                }
            }
        }
        Ok(Column::floats("x", [self.width()], rows.x)?)
    }
}

/// A number under its mean and standard deviation, or the third number if it is missing. `None` if single
/// precision cannot hold it, or if the numbers were too large to find their scale.
fn scaled(value: f64, (mean, std, fill): (f64, f64, f64)) -> Option<f32> {
    let known = if value.is_nan() { fill } else { value };
    let scaled = ((known - mean) / std) as f32;
    (std.is_finite() && scaled.is_finite()).then_some(scaled)
}

impl Input {
    /// The error that its field of a row is not as expected.
    fn wrong(
        &self,
        (sheet, row): (&Sheet, &Row<'_>),
        expected: impl Into<Box<str>>,
        nearest: Option<&str>,
    ) -> OwnDataError {
        OwnDataError::Value {
            path: sheet.path().to_path_buf(),
            line: row.line(),
            column: self.name.clone(),
            expected: expected.into(),
            found: start(row.text(self.column)).into(),
            nearest: nearest.map(Into::into),
        }
    }

    /// Appends the inputs of its field of a row.
    fn append(
        &self,
        sheet: &Sheet,
        row: &Row<'_>,
        rows: &mut EncodedRows,
    ) -> Result<(), OwnDataError> {
        let of = (sheet, row);
        let value = row.value(self.column);
        if value.is_none() && !self.gaps {
            return Err(self.wrong(of, "a value", None));
        }
        match &self.kind {
            Kind::Number { .. } => {
                let x_i = value.map_or(Some(f64::NAN), number);
                let x_i = x_i.ok_or_else(|| self.wrong(of, "a number", None))?;
                rows.numbers.push(x_i);
                rows.x.push(0.0);
            }
            Kind::Texts(texts) => {
                let text = value.unwrap_or(GAP);
                let Some(at) = texts.iter().position(|known| known == text) else {
                    let expected = texts.iter().take(20).map(|text| start(text));
                    let expected = expected.collect::<Vec<_>>().join(", ");
                    let near = nearest(text, texts.iter().map(String::as_str));
                    return Err(self.wrong(of, expected, near));
                };
                rows.x
                    .extend((0..texts.len()).map(|i| f32::from(u8::from(i == at))));
            }
        }
        Ok(())
    }
}

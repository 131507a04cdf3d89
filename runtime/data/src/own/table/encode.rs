//! The encoding of the rows of a table as numbers.

use std::path::Path;

use fedround_names::nearest;

use super::Roles;
use super::scan::Scan;
use super::sheet::{Format, Row, Sheet, number};
use crate::own::normalize::moments;
use crate::own::{Normalize, OwnDataError};
use crate::{Column, DataError};

/// The name of the category of missing values.
const GAP: &str = "(missing)";

/// How the rows of a table become inputs of a model.
///
/// A column of numbers is one input. A column of texts has an input for each of its distinct texts, which is
/// 1 where a row has that text, and else 0 (one-hot).
#[derive(Clone, Debug, PartialEq)]
pub struct TableEncoder {
    inputs: Vec<Input>,
}

/// One column of the table.
#[derive(Clone, Debug, PartialEq)]
struct Input {
    /// Its place in the training table.
    column: usize,
    name: String,
    kind: Kind,
    /// Whether a value may be missing.
    gaps: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// A number `x`, which becomes `(x - mean) / std`. `fill` takes the place of a missing one.
    Number { mean: f64, std: f64, fill: f64 },
    /// One of these texts, in their order.
    Texts(Vec<String>),
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
                    if gaps {
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

    /// Appends the inputs of a row of the training or test table, not yet scaled. A missing number is not a
    /// number.
    pub(super) fn append(
        &self,
        sheet: &Sheet,
        row: &Row<'_>,
        x: &mut Vec<f32>,
    ) -> Result<(), OwnDataError> {
        let mut inputs = self.inputs.iter();
        inputs.try_for_each(|input| input.append(sheet, row, input.column, x))
    }

    /// Finds the scale of each number on the rows `train` of the encoded `x`, and scales all rows. Missing
    /// numbers become the mean of the training rows.
    pub(super) fn standardise(
        &mut self,
        normalize: &Normalize,
        x: &mut [f32],
        train: &[usize],
    ) -> Result<(), OwnDataError> {
        let width = self.width();
        let mut at = 0;
        for input in &mut self.inputs {
            let next = at + input.width();
            if let Kind::Number { mean, std, fill } = &mut input.kind {
                let known = train.iter().map(|&row| f64::from(x[row * width + at]));
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
                for value in x.iter_mut().skip(at).step_by(width) {
                    *value = scaled(*value, (*mean, *std, *fill));
                }
            }
            at = next;
        }
        Ok(())
    }

    /// The rows of another CSV file, or of a file `*.parquet`, as a column `x`. It has a header with the same names, in any order. Other
    /// columns, such as the target, do not matter.
    ///
    /// # Errors
    /// A column is missing, or a value is not one that the training table could have.
    pub fn encode(&self, path: &Path) -> Result<Column, DataError> {
        let sheet = Sheet::open(path, Format::of(path))?;
        let places = self.inputs.iter().map(|input| sheet.find(&input.name));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        let mut x = vec![];
        for row in sheet.rows() {
            let row = row?;
            for (input, &place) in self.inputs.iter().zip(&places) {
                let start = x.len();
                input.append(&sheet, &row, place, &mut x)?;
                if let Kind::Number { mean, std, fill } = input.kind {
                    x[start] = scaled(x[start], (mean, std, fill));
                }
            }
        }
        Ok(Column::floats("x", [self.width()], x)?)
    }
}

/// A number under its mean and standard deviation, or the third number if it is missing.
fn scaled(value: f32, (mean, std, fill): (f64, f64, f64)) -> f32 {
    let known = if value.is_nan() {
        fill
    } else {
        f64::from(value)
    };
    ((known - mean) / std) as f32
}

impl Input {
    /// Appends the inputs of the field `place` of a row.
    fn append(
        &self,
        sheet: &Sheet,
        row: &Row<'_>,
        place: usize,
        x: &mut Vec<f32>,
    ) -> Result<(), OwnDataError> {
        let wrong = |expected: String, nearest: Option<&str>| OwnDataError::Value {
            path: sheet.path().to_path_buf(),
            line: row.line(),
            column: self.name.clone(),
            expected: expected.into(),
            found: row.text(place).into(),
            nearest: nearest.map(Into::into),
        };
        let value = row.value(place);
        if value.is_none() && !self.gaps {
            return Err(wrong("a value".to_owned(), None));
        }
        match &self.kind {
            Kind::Number { .. } => {
                let x_i = value.map_or(Some(f64::NAN), number);
                x.push(x_i.ok_or_else(|| wrong("a number".to_owned(), None))? as f32);
            }
            Kind::Texts(texts) => {
                let text = value.unwrap_or(GAP);
                let Some(at) = texts.iter().position(|known| known == text) else {
                    let expected = texts
                        .iter()
                        .take(20)
                        .cloned()
                        .collect::<Vec<_>>()
                        .join(", ");
                    let near = nearest(text, texts.iter().map(String::as_str));
                    return Err(wrong(expected, near));
                };
                x.extend((0..texts.len()).map(|i| f32::from(u8::from(i == at))));
            }
        }
        Ok(())
    }
}

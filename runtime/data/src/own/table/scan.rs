//! The first pass over tables: finds the type of each column and its missing values.

use std::collections::{BTreeSet, HashSet};

use super::Roles;
use super::sheet::{Row, Sheet, number};
use crate::DataError;
use crate::notes::start;
use crate::own::{Missing, OwnDataError};

/// The largest number of distinct texts of a column, each of which becomes an input.
const MOST_TEXTS: usize = 256;
/// The largest number of distinct values of a target that holds fractions.
const MOST_FRACTIONS: usize = 20;

/// From this many rows on, a column with another whole number in each row may be their numbering.
const FEWEST_IDS: usize = 20;

/// What the rows have in each column: in the target those of all tables, and in inputs those of the first one,
/// which is trained on. Missing values are counted in all tables.
pub(super) struct Scan {
    columns: Vec<ColumnScan>,
    names: Vec<String>,
    /// Whether rows with a missing value are left out.
    drops: bool,
}

/// What a column has.
#[derive(Default)]
struct ColumnScan {
    /// A text that is no number, with its line.
    text: Option<(String, u64)>,
    /// How many values are numbers, and how many are not.
    numeric: usize,
    other: usize,
    /// A number that is not whole.
    fraction: Option<String>,
    /// Distinct values, up to one more than [`MOST_TEXTS`].
    values: BTreeSet<String>,
    /// The value that was one too many, and its line.
    excess: Option<(String, u64)>,
    /// The number of missing values.
    missing: usize,
    /// The whole numbers so far, until one repeats.
    numbers: HashSet<i64>,
    /// Whether a value repeats, or is no whole number.
    repeats: bool,
}

impl Scan {
    /// Reads all rows. `fitted` says whether these tables decide how gaps are filled, and not those that a model was
    /// trained on.
    pub fn of(
        sheets: &[Sheet],
        roles: &Roles,
        (missing, fitted): (Missing, bool),
    ) -> Result<Self, DataError> {
        let names = sheets[0].columns().to_vec();
        let columns = names.iter().map(|_| ColumnScan::default()).collect();
        let drops = missing == Missing::Drop;
        let mut scan = Self {
            columns,
            names,
            drops,
        };
        let mut all = 0;
        for (at, sheet) in sheets.iter().enumerate() {
            // The first row with a missing value, and how many there are.
            let (mut gap, mut rows) = (None, 0);
            for row in sheet.rows() {
                let row = row?;
                all += 1;
                let lacking = scan.add(&row, roles, at == 0);
                let Some(column) = lacking else { continue };
                rows += 1;
                gap = gap.or(Some((row.line(), column)));
                if missing == Missing::Fill {
                    scan.check_names(sheet, &row, roles)?;
                }
            }
            // There is nothing to fill an empty column with.
            if gap.is_some() && (missing != Missing::Fill || fitted) {
                scan.check_columns(sheet, roles, all)?;
            }
            if let (Some((line, column)), Missing::Stop) = (gap, missing) {
                return Err(OwnDataError::Missing {
                    path: sheet.path().to_path_buf(),
                    line,
                    column: scan.names[column].clone(),
                    rows,
                    columns: scan.missing(),
                }
                .into());
            }
        }
        scan.check(&sheets[0], roles)?;
        Ok(scan)
    }

    /// Adds a row. Gives a column that lacks a value. Of a row that is left out, only the gaps are counted, and of
    /// one that is not `first`, in the first table, only the gaps and the target.
    fn add(&mut self, row: &Row<'_>, roles: &Roles, first: bool) -> Option<usize> {
        let lacking = roles.used().find(|&column| row.value(column).is_none());
        let dropped = self.drops && lacking.is_some();
        for column in roles.used() {
            let found = &mut self.columns[column];
            match row.value(column) {
                None => found.missing += 1,
                Some(value) if !dropped && (first || column == roles.target) => {
                    found.add(value, row.line());
                }
                Some(_) => {}
            }
        }
        lacking
    }

    /// Fails for a column that has no value in any of so many rows, as one that a separator too many adds to a header.
    fn check_columns(&self, sheet: &Sheet, roles: &Roles, rows: usize) -> Result<(), OwnDataError> {
        let is_empty = |column: usize| self.columns[column].missing == rows;
        let path = || sheet.path().to_path_buf();
        // The target and the clients cannot be left out as an input can.
        if let Some((column, what)) = roles.named().find(|(column, _)| is_empty(*column)) {
            return Err(OwnDataError::EmptyNames {
                path: path(),
                column: self.names[column].clone(),
                what,
            });
        }
        match roles.inputs.iter().find(|&&column| is_empty(column)) {
            None => Ok(()),
            Some(&column) => Err(OwnDataError::EmptyColumn {
                path: path(),
                column: self.names[column].clone(),
            }),
        }
    }

    fn check_names(&self, sheet: &Sheet, row: &Row<'_>, roles: &Roles) -> Result<(), OwnDataError> {
        let mut named = roles.named();
        match named.find(|(column, _)| row.value(*column).is_none()) {
            None => Ok(()),
            Some((column, what)) => Err(OwnDataError::MissingName {
                path: sheet.path().to_path_buf(),
                line: row.line(),
                column: self.names[column].clone(),
                what,
            }),
        }
    }

    fn check(&self, sheet: &Sheet, roles: &Roles) -> Result<(), OwnDataError> {
        let path = || sheet.path().to_path_buf();
        for &column in &roles.inputs {
            let found = &self.columns[column];
            if let (Some((example, line)), Some(_)) = (&found.excess, &found.text) {
                return Err(OwnDataError::TooManyTexts {
                    path: path(),
                    column: self.names[column].clone(),
                    limit: MOST_TEXTS,
                    example: start(example),
                    line: *line,
                    numbers: found.meant_as_numbers(),
                });
            }
        }
        let target = &self.columns[roles.target];
        match (&target.text, &target.fraction) {
            (None, Some(example)) if target.values.len() > MOST_FRACTIONS => {
                Err(OwnDataError::Quantity {
                    path: path(),
                    column: self.names[roles.target].clone(),
                    example: example.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// What a user should know of columns that are read as something else than they may be meant.
    pub fn notes(&self, roles: &Roles) -> Vec<String> {
        let target = &self.columns[roles.target];
        let classes = match target.excess {
            Some(_) => format!("more than {MOST_TEXTS}"),
            None => target.values.len().to_string(),
        };
        let quantity = target.text.is_none() && target.values.len() > MOST_FRACTIONS;
        let quantity = quantity.then(|| {
            let name = &self.names[roles.target];
            format!(
                "column `{name}` holds {classes} different numbers, and each of them is a class of its own; if they are a \
                 quantity, replace them by ranges"
            )
        });
        let ids = roles.inputs.iter().filter(|&&column| {
            let found = &self.columns[column];
            !found.repeats && found.numbers.len() >= FEWEST_IDS
        });
        let ids = ids.map(|&column| {
            let name = &self.names[column];
            format!(
                "column `{name}` has another whole number in each row and is an input; ignore the column if it only \
                 numbers the rows"
            )
        });
        let texts = roles.inputs.iter().filter_map(|&column| {
            let why = self.columns[column].meant_as_numbers()?;
            let name = &self.names[column];
            Some(format!(
                "column `{name}` is read as texts, an input for each: {why}"
            ))
        });
        quantity.into_iter().chain(ids).chain(texts).collect()
    }

    /// The missing values of all tables, as [`counts`] writes them.
    pub fn missing(&self) -> Vec<String> {
        let missing = self.columns.iter().map(|found| found.missing);
        counts(self.names.iter().zip(missing))
    }

    /// The distinct texts of a column, or `None` if it holds numbers.
    pub fn texts(&self, column: usize) -> Option<Vec<String>> {
        let found = &self.columns[column];
        found.text.as_ref()?;
        Some(found.values.iter().cloned().collect())
    }

    /// Whether a column lacks values in rows that are read.
    pub fn has_gaps(&self, column: usize) -> bool {
        !self.drops && self.columns[column].missing > 0
    }
}

/// Each column with its number of missing values, as in `age 12`, less those without any.
pub(super) fn counts<'a>(columns: impl Iterator<Item = (&'a String, usize)>) -> Vec<String> {
    let lacking = columns.filter(|(_, missing)| *missing > 0);
    lacking
        .map(|(name, missing)| format!("{name} {missing}"))
        .collect()
}

impl ColumnScan {
    /// What is wrong with a column of texts that is probably meant as numbers.
    fn meant_as_numbers(&self) -> Option<String> {
        let (text, line) = self.text.as_ref()?;
        let what = if number(&text.replace(',', ".")).is_some() {
            "a decimal number has a point, not a comma"
        } else if text.parse::<f64>().is_ok() && text.contains(|c: char| c.is_ascii_digit()) {
            "the largest number is 1.8e308"
        } else if self.numeric > self.other {
            "most of the others are numbers"
        } else {
            return None;
        };
        Some(format!(
            "`{}` in line {line} is no number, and {what}",
            start(text)
        ))
    }

    fn add(&mut self, value: &str, line: u64) {
        let found = number(value);
        *match found {
            Some(_) => &mut self.numeric,
            None => &mut self.other,
        } += 1;
        match found {
            None if self.text.is_none() => self.text = Some((value.to_owned(), line)),
            Some(x) if x.fract() != 0.0 && self.fraction.is_none() => {
                self.fraction = Some(value.to_owned());
            }
            _ => {}
        }
        if !self.repeats {
            let number = value.parse::<i64>();
            self.repeats = !number.is_ok_and(|number| self.numbers.insert(number));
            if self.repeats {
                self.numbers = HashSet::new();
            }
        }
        if self.excess.is_some() || self.values.contains(value) {
            return;
        }
        match self.values.len() < MOST_TEXTS {
            true => {
                self.values.insert(value.to_owned());
            }
            false => self.excess = Some((value.to_owned(), line)),
        }
    }
}

//! The rows of a CSV file.

use std::path::Path;

use fedround_names::nearest;

use crate::DataError;
use crate::formats::record::{Record, Records};
use crate::notes::start;
use crate::own::file_advice::of_own_file;
use crate::own::{DataLocation, OwnDataError};

/// A CSV file with a header. Fields are separated by the one of `,`, `;` and tabs that its header has most of
/// outside of quotes. Blanks around fields do not count.
pub(super) struct Sheet {
    records: Records,
    separator: u8,
    columns: Vec<String>,
}

/// One row below the header.
pub(super) struct Row<'a>(Record<'a>);

/// What stands for a missing value, in any case.
const MISSING: [&str; 8] = ["", "?", "na", "n/a", "nan", "null", "none", "-"];

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Parquet,
}

impl Format {
    /// The format of a file by its name: CSV, unless it ends in `.parquet`.
    pub fn of(path: &Path) -> Self {
        match path.extension().is_some_and(|e| e == "parquet") {
            true => Self::Parquet,
            false => Self::Csv,
        }
    }

    fn records(self, path: &Path) -> Result<Records, DataError> {
        match self {
            Self::Csv => Records::open_own(path).map_err(of_own_file),
            #[cfg(feature = "parquet")]
            Self::Parquet => Ok(Records::of_text(path, super::parquet::text(path)?)),
            #[cfg(not(feature = "parquet"))]
            Self::Parquet => Err(OwnDataError::NoParquet {
                path: path.to_path_buf(),
            }
            .into()),
        }
    }
}

impl Sheet {
    pub fn open(path: &Path, format: Format) -> Result<Self, DataError> {
        if !path.is_file() {
            return Err(DataLocation::missing(path, "a file"));
        }
        let records = format.records(path)?;
        let first = records
            .first_line()
            .trim_start_matches('\u{feff}')
            .to_owned();
        // Of equally frequent ones, the last.
        let separators = [b'\t', b';', b','];
        let header = records.unquoted_header(&separators);
        let count = |separator: &u8| header.iter().filter(|b| *b == separator).count();
        let separator = separators.into_iter().max_by_key(count);
        let separator = separator.unwrap_or(b',');
        let mut columns = records.header(separator).map_err(of_own_file)?;
        if columns.iter().all(|name| name.parse::<f64>().is_ok()) {
            return Err(OwnDataError::NoHeader {
                path: path.to_path_buf(),
                found: match first.is_empty() {
                    true => "an empty line".to_owned(),
                    false => format!("`{}`; add a line of names", start(&first)),
                },
            }
            .into());
        }
        for (i, name) in columns.iter_mut().enumerate() {
            if name.is_empty() {
                *name = format!("column {}", i + 1);
            }
        }
        for (i, name) in columns.iter().enumerate() {
            if columns[..i].contains(name) {
                return Err(OwnDataError::NoHeader {
                    path: path.to_path_buf(),
                    found: format!("the name `{}` twice", start(name)),
                }
                .into());
            }
        }
        Ok(Self {
            records,
            separator,
            columns,
        })
    }

    pub fn path(&self) -> &Path {
        self.records.path()
    }

    /// The names of the columns. One without a name has its number, from 1.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The column of this name.
    pub fn find(&self, name: &str) -> Result<usize, OwnDataError> {
        let found = self.columns.iter().position(|column| column == name);
        found.ok_or_else(|| OwnDataError::NoColumn {
            path: self.path().to_path_buf(),
            name: name.to_owned(),
            nearest: nearest(name, self.columns.iter().map(String::as_str)).map(str::to_owned),
            columns: self.columns.clone(),
        })
    }

    /// Checks that the columns are those of another sheet.
    pub fn check_columns(&self, other: &Self) -> Result<(), OwnDataError> {
        match self.columns == other.columns {
            true => Ok(()),
            false => Err(OwnDataError::OtherColumns {
                path: self.path().to_path_buf(),
                expected: other.columns.clone(),
                found: self.columns.clone(),
            }),
        }
    }

    pub fn rows(&self) -> impl Iterator<Item = Result<Row<'_>, DataError>> {
        let rows = self.records.own_rows(self.columns.len(), self.separator);
        rows.skip(1).map(|row| row.map(Row).map_err(of_own_file))
    }
}

impl Row<'_> {
    /// The line of the file, from 1.
    pub fn line(&self) -> u64 {
        self.0.line()
    }

    pub fn text(&self, column: usize) -> &str {
        self.0.text(column)
    }

    /// The text of a field, or `None` if it stands for a missing value.
    pub fn value(&self, column: usize) -> Option<&str> {
        let text = self.text(column);
        let missing = MISSING.iter().any(|m| m.eq_ignore_ascii_case(text));
        (!missing).then_some(text)
    }
}

/// A finite number.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

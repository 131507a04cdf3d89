//! Tables: CSV files with a header, and Parquet files, which become the same text.
//!
//! A file is read twice. The first pass finds the type of each column, and the second encodes the rows. So
//! memory holds the file and the encoded numbers, but not a text for each field.

mod encode;
#[cfg(feature = "parquet")]
mod parquet;
mod scan;
mod sheet;

use std::path::PathBuf;
use std::sync::Arc;

pub use encode::TableEncoder;

use super::labels::Names;
use super::{Missing, OwnDataError, ReadOptions};
use crate::notes::count;
use crate::{Column, DataError, Dataset, Examples, InputValues};
use encode::EncodedRows;
use scan::{Scan, counts};
pub(super) use sheet::Format;
use sheet::Sheet;

/// Reads `[FILE]`, or `[TRAIN, TEST]`.
pub(super) fn read(
    files: &[PathBuf],
    format: Format,
    reading: &ReadOptions,
    seed: u64,
) -> Result<Dataset, DataError> {
    let sheets = files.iter().map(|file| Sheet::open(file, format));
    let sheets = sheets.collect::<Result<Vec<_>, _>>()?;
    let [first, rest @ ..] = &sheets[..] else {
        return Err(OwnDataError::Place {
            text: "csv:".to_owned(),
            syntax: "csv:FILE or csv:TRAIN,TEST",
        }
        .into());
    };
    rest.iter()
        .try_for_each(|sheet| sheet.check_columns(first))?;
    let mut roles = Roles::of(first, reading)?;
    let known = match reading.like.as_deref().map(|like| &like.values) {
        Some(InputValues::Table(encoder)) => {
            let known = encoder.clone().of_columns(first)?;
            Some(match reading.missing {
                Missing::Fill => known.filling_numbers(),
                Missing::Stop | Missing::Drop => known,
            })
        }
        _ => None,
    };
    if let Some(known) = &known {
        roles.inputs = known.columns();
    }
    let fitted = known.is_none();
    let scan = Scan::of(&sheets, &roles, (reading.missing, fitted))?;
    let mut encoder = match known {
        Some(known) => known,
        None => TableEncoder::new(first, &roles, &scan)?,
    };

    let mut notes = scan.notes(&roles);
    let Encoded {
        rows,
        of_sheet,
        classes,
        clients,
    } = Encoded::of(&sheets, &roles, &encoder, reading, &mut notes)?;
    DataError::empty_if(of_sheet.is_empty(), first.path())?;
    if reading.missing == Missing::Fill && !scan.missing().is_empty() {
        notes.push(format!(
            "missing values are filled: {}",
            scan.missing().join(", ")
        ));
    }
    let target = format!(
        "{}, column `{}`",
        first.path().display(),
        first.columns()[roles.target]
    );
    let (names, labels) = classes.classes(&target)?;
    let (group_names, groups) = clients.sorted();
    let groups = roles.client.map(|_| (group_names, groups));
    let of_clients = groups.as_ref().map(|(_, of)| &of[..]);
    let of_sheets = || of_sheet.iter().map(|&sheet| sheet > 0).collect();
    let is_test = (!rest.is_empty()).then(of_sheets);
    let parts = reading.parts(is_test, (&labels, of_clients), seed);
    DataError::empty_if(parts.train.is_empty(), first.path())?;
    let test_file = match rest {
        [sheet] => Some(sheet.path()),
        _ => None,
    };
    if let Some(path) = test_file {
        DataError::empty_if(parts.test.is_empty(), path)?;
    }
    let normalize = fitted.then_some(&reading.normalize);
    let x = encoder.standardise(normalize, rows, &parts.train, first.path())?;
    let x = Column::floats("x", [encoder.width()], x)?;
    let examples = Examples::of_columns(vec![x], labels)?;
    let mut data = parts.dataset(&examples, names, groups, test_file)?;
    notes.append(&mut data.notes);
    data.notes = notes;
    data.table = Some(Arc::new(encoder));
    Ok(data)
}

/// The rows of all tables.
#[derive(Default)]
struct Encoded {
    rows: EncodedRows,
    /// The table of each row.
    of_sheet: Vec<usize>,
    classes: Names,
    clients: Names,
}

impl Encoded {
    fn of(
        sheets: &[Sheet],
        roles: &Roles,
        encoder: &TableEncoder,
        reading: &ReadOptions,
        notes: &mut Vec<String>,
    ) -> Result<Self, DataError> {
        let mut all = Self::default();
        for (number, sheet) in sheets.iter().enumerate() {
            let mut dropped = 0;
            let mut gaps = vec![0; sheet.columns().len()];
            for row in sheet.rows() {
                let row = row?;
                if reading.missing == Missing::Drop && roles.lacks(&row) {
                    dropped += 1;
                    roles.gaps(&row).for_each(|column| gaps[column] += 1);
                    continue;
                }
                encoder.append(sheet, &row, &mut all.rows)?;
                all.classes.push(row.text(roles.target));
                if let Some(client) = roles.client {
                    all.clients.push(row.text(client));
                }
                all.of_sheet.push(number);
            }
            if dropped > 0 {
                notes.push(format!(
                    "{}: left out {} with missing values ({})",
                    sheet.path().display(),
                    count(dropped, "row", "rows"),
                    counts(sheet.columns().iter().zip(gaps)).join(", ")
                ));
            }
        }
        Ok(all)
    }
}

/// Which columns are what.
struct Roles {
    target: usize,
    client: Option<usize>,
    inputs: Vec<usize>,
}

impl Roles {
    fn of(sheet: &Sheet, reading: &ReadOptions) -> Result<Self, OwnDataError> {
        let Some(target) = &reading.target else {
            return Err(OwnDataError::NoTarget {
                path: sheet.path().to_path_buf(),
                columns: sheet.columns().to_vec(),
            });
        };
        let target = sheet.find(target)?;
        let client = reading.client_column.as_deref();
        let client = client.map(|name| sheet.find(name)).transpose()?;
        let ignored = reading.ignore.iter().map(|name| sheet.find(name));
        let ignored = ignored.collect::<Result<Vec<_>, _>>()?;
        let twice = [
            ("client_column", client == Some(target)),
            ("ignore", ignored.contains(&target)),
        ];
        if let Some((option, _)) = twice.into_iter().find(|(_, is)| *is) {
            return Err(OwnDataError::TargetTwice {
                path: sheet.path().to_path_buf(),
                column: sheet.columns()[target].clone(),
                option,
            });
        }
        let is_input = |i: &usize| *i != target && client != Some(*i) && !ignored.contains(i);
        let inputs: Vec<usize> = (0..sheet.columns().len()).filter(is_input).collect();
        match inputs.is_empty() {
            true => Err(OwnDataError::NoInputs {
                path: sheet.path().to_path_buf(),
            }),
            false => Ok(Self {
                target,
                client,
                inputs,
            }),
        }
    }

    /// The columns that are read.
    fn used(&self) -> impl Iterator<Item = usize> {
        let named = self.named().map(|(column, _)| column);
        self.inputs.iter().copied().chain(named)
    }

    /// The columns that name something in each row, and what they name.
    fn named(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let named = [(Some(self.target), "class"), (self.client, "client")];
        named
            .into_iter()
            .filter_map(|(column, what)| Some((column?, what)))
    }

    /// The used columns in which a row has no value.
    fn gaps(&self, row: &sheet::Row<'_>) -> impl Iterator<Item = usize> {
        self.used()
            .filter(move |&column| row.value(column).is_none())
    }

    /// Whether a row has no value in one of them.
    fn lacks(&self, row: &sheet::Row<'_>) -> bool {
        self.gaps(row).next().is_some()
    }
}

//! Text files of records, one record a line with commas between its fields, and JSON files.
//!
//! Every error names the file and the line.

use std::path::{Path, PathBuf};

use csv::{ReaderBuilder, StringRecord, StringRecordsIntoIter};
use serde::de::DeserializeOwned;

use super::files::{MOST_TEXT, own_limit, read};
use super::quotes::unquoted;
use crate::notes::start;
use crate::{DataError, RecordError};

/// The text of a file of records.
pub(crate) struct Records {
    path: PathBuf,
    bytes: Vec<u8>,
    /// Whether errors count records instead of lines, because the text was made from a file without lines.
    counts_records: bool,
}

/// One record and its line.
pub(crate) struct Record<'a> {
    path: &'a Path,
    line: u64,
    fields: StringRecord,
}

impl Records {
    /// Reads a file, gzipped if its name ends in `.gz`.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let records = Self::open_list(path)?;
        if records.bytes.last().is_some_and(|&b| b != b'\n') {
            let ends = records.bytes.iter().filter(|&&b| b == b'\n');
            let line = 1 + ends.count() as u64;
            let path = path.to_path_buf();
            return Err(RecordError::BreaksOff { path, line }.into());
        }
        Ok(records)
    }

    /// [`open`](Self::open) for lists that people write. Their last line may lack its line end.
    pub fn open_list(path: &Path) -> Result<Self, DataError> {
        Ok(Self::of_lines(path, read(path, MOST_TEXT)?))
    }

    /// [`open_list`](Self::open_list) for a user's own tables, whose size nobody published.
    pub fn open_own(path: &Path) -> Result<Self, DataError> {
        let packed = std::fs::metadata(path).map_or(0, |file| file.len());
        Ok(Self::of_lines(path, read(path, own_limit(packed))?))
    }

    fn of_lines(path: &Path, bytes: Vec<u8>) -> Self {
        Self {
            path: path.to_path_buf(),
            bytes,
            counts_records: false,
        }
    }

    /// The records of a text that was made from a file.
    #[cfg(feature = "parquet")]
    pub fn of_text(path: &Path, bytes: Vec<u8>) -> Self {
        Self {
            counts_records: true,
            ..Self::of_lines(path, bytes)
        }
    }

    /// The records, each of `N` fields. Empty lines are skipped, and so are lines that start with
    /// `comment` and have no comma. A comment line with a comma is an error, because it has lost its line
    /// end and swallowed a record.
    pub fn rows<const N: usize>(
        &self,
        comment: Option<u8>,
    ) -> impl Iterator<Item = Result<Record<'_>, RecordError>> {
        self.read(N, b',', comment, false)
    }

    /// The records of a user's own table, whose fields may contain line ends if they are in quotes.
    pub fn own_rows(
        &self,
        fields: usize,
        separator: u8,
    ) -> impl Iterator<Item = Result<Record<'_>, RecordError>> {
        self.read(fields, separator, None, true)
    }

    fn read(
        &self,
        expected: usize,
        separator: u8,
        comment: Option<u8>,
        line_ends: bool,
    ) -> impl Iterator<Item = Result<Record<'_>, RecordError>> {
        let is_comment = move |fields: &StringRecord| {
            let first = fields.get(0).and_then(|f| f.bytes().next());
            comment.is_some() && first == comment && fields.len() == 1
        };
        let rows = self.records(separator);
        let rows = rows.filter(move |row| !row.as_ref().is_ok_and(is_comment));
        rows.map(move |fields| {
            let fields = fields.map_err(|error| self.unreadable(&error))?;
            let line = fields.position().map_or(0, |at| self.line_of(at));
            let path = &self.path;
            // A quote that is not closed takes the lines after it into its field.
            let whole = || {
                let closed = |at| self.closes(at, separator);
                line_ends && fields.len() == expected && fields.position().is_some_and(closed)
            };
            if fields.iter().any(|f| f.contains('\n')) && !whole() {
                let path = path.clone();
                return Err(RecordError::Quote { path, line });
            }
            if fields.len() != expected {
                return Err(RecordError::Fields {
                    path: path.clone(),
                    line,
                    expected,
                    found: fields.len(),
                });
            }
            Ok(Record { path, line, fields })
        })
    }

    fn records(&self, separator: u8) -> StringRecordsIntoIter<&[u8]> {
        ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .from_reader(&self.bytes[..])
            .into_records()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The first line, without its end.
    pub fn first_line(&self) -> std::borrow::Cow<'_, str> {
        let end = self.bytes.iter().position(|&b| b == b'\n');
        let line = String::from_utf8_lossy(&self.bytes[..end.unwrap_or(self.bytes.len())]);
        match line.strip_suffix('\r') {
            Some(line) => line.to_owned().into(),
            None => line,
        }
    }

    /// The bytes of the first record that are outside of quotes, where a quoted field follows one of these
    /// separators.
    pub fn unquoted_header(&self, separators: &[u8]) -> Vec<u8> {
        unquoted(&self.bytes, separators).0
    }

    /// The fields of the first record, without a byte order mark.
    pub fn header(&self, separator: u8) -> Result<Vec<String>, RecordError> {
        let first = self.records(separator).next().transpose();
        let first = first.map_err(|error| self.unreadable(&error))?;
        let first = first.unwrap_or_default();
        if !unquoted(&self.bytes, &[separator]).1 {
            let path = self.path.clone();
            return Err(RecordError::Quote { path, line: 1 });
        }
        let fields = first
            .iter()
            .map(|field| field.trim_start_matches('\u{feff}'));
        Ok(fields.map(|field| field.trim().to_owned()).collect())
    }

    /// [`rows`](Self::rows) below a first line that names the columns.
    pub fn rows_below<const N: usize>(
        &self,
        header: &'static str,
    ) -> Result<impl Iterator<Item = Result<Record<'_>, RecordError>>, RecordError> {
        let end = self.bytes.iter().position(|&b| b == b'\n');
        let first = String::from_utf8_lossy(&self.bytes[..end.unwrap_or(0)]);
        if first.trim() != header {
            return Err(RecordError::Header {
                path: self.path.clone(),
                expected: header,
                found: start(first.trim()),
            });
        }
        Ok(self.rows::<N>(None).skip(1))
    }

    /// The line of a record that starts at or after `at`. The reader counts the empty lines before a
    /// record as a part of it.
    fn line_of(&self, at: &csv::Position) -> u64 {
        if self.counts_records {
            return at.record() + 1;
        }
        let start = usize::try_from(at.byte()).unwrap_or(usize::MAX);
        let rest = self.bytes.get(start..).unwrap_or_default();
        let passed = |line: &&[u8]| matches!(line.first(), None | Some(b'\r'));
        let skipped = rest.split(|&b| b == b'\n').take_while(passed).count();
        at.line() + skipped as u64
    }

    /// Whether every quote is closed in the record that starts at or after `at`.
    fn closes(&self, at: &csv::Position, separator: u8) -> bool {
        let start = usize::try_from(at.byte()).unwrap_or(usize::MAX);
        unquoted(self.bytes.get(start..).unwrap_or_default(), &[separator]).1
    }

    fn unreadable(&self, error: &csv::Error) -> RecordError {
        RecordError::Utf8 {
            path: self.path.clone(),
            line: error.position().map_or(0, csv::Position::line),
        }
    }
}

impl Record<'_> {
    /// The line, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Field `index` without the blanks around it. [`Records::rows`] has checked that it exists.
    pub fn text(&self, index: usize) -> &str {
        self.fields.get(index).unwrap_or_default().trim()
    }

    /// The error that a field is not as expected.
    pub fn wrong(&self, index: usize, field: &'static str, expected: String) -> RecordError {
        RecordError::Field {
            path: self.path.to_path_buf(),
            line: self.line,
            field,
            expected,
            found: start(self.text(index)),
        }
    }
}

/// Twice the longest published JSON file: 0.45 GB, of COCO.
const MOST_JSON: u64 = 1 << 30;

/// Parses a JSON file, plain or gzipped.
pub(crate) fn json<T: DeserializeOwned>(path: &Path) -> Result<T, DataError> {
    let bytes = read(path, MOST_JSON)?;
    serde_json::from_slice(&bytes).map_err(|source| {
        let path = path.to_path_buf();
        RecordError::Json { path, source }.into()
    })
}

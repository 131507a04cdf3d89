//! Parquet files as the text of a table, which is then read like any other.

use std::fs::File;
use std::path::Path;

use csv::Writer;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::DataError;
use crate::own::OwnFileError;

/// The longest text that is accepted of a file. Parquet packs, so a small file may be a large table.
const MOST_TEXT: usize = 1 << 32;

/// The rows of a file with a header, as CSV. A missing value is an empty field, and row `n` is in line
/// `n + 1`.
pub(super) fn text(path: &Path) -> Result<Vec<u8>, DataError> {
    let wrong = |found: String| OwnFileError::Parquet {
        path: path.to_path_buf(),
        found,
    };
    let damaged = |error: ParquetError| wrong(error.to_string());
    let file = File::open(path).map_err(DataError::unreadable(path))?;
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let schema = reader.metadata().file_metadata().schema();
    let names = schema.get_fields().iter().map(|column| column.name());
    let unwritten = |error: csv::Error| wrong(error.to_string());
    let mut table = Writer::from_writer(vec![]);
    table.write_record(names).map_err(unwritten)?;
    for (number, row) in reader.get_row_iter(None).map_err(damaged)?.enumerate() {
        for (name, value) in row.map_err(damaged)?.get_column_iter() {
            let value = field(value)
                .ok_or_else(|| wrong(format!("a list, a group or bytes in column `{name}`")))?;
            table.write_field(value).map_err(unwritten)?;
        }
        table.write_record(None::<&[u8]>).map_err(unwritten)?;
        if table.get_ref().len() > MOST_TEXT {
            let found = format!("more than 4 GiB of text in its first {} rows", number + 1);
            return Err(wrong(found).into());
        }
    }
    let unwritten = |error: csv::IntoInnerError<_>| wrong(error.to_string());
    Ok(table.into_inner().map_err(unwritten)?)
}

/// The text of a value; `None` of what a table of numbers and texts cannot hold.
fn field(value: &Field) -> Option<String> {
    Some(match value {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Bool(truth) => truth.to_string(),
        Field::Byte(n) => n.to_string(),
        Field::Short(n) => n.to_string(),
        Field::Int(n) => n.to_string(),
        Field::Long(n) => n.to_string(),
        Field::UByte(n) => n.to_string(),
        Field::UShort(n) => n.to_string(),
        Field::UInt(n) => n.to_string(),
        Field::ULong(n) => n.to_string(),
        Field::Float16(x) => x.to_string(),
        Field::Float(x) => x.to_string(),
        Field::Double(x) => x.to_string(),
        // Dates and decimal numbers have a text form.
        Field::Decimal(_)
        | Field::Date(_)
        | Field::TimeMillis(_)
        | Field::TimeMicros(_)
        | Field::TimestampMillis(_)
        | Field::TimestampMicros(_) => value.to_string(),
        Field::Bytes(bytes) => bytes.as_utf8().ok()?.to_owned(),
        Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_) => return None,
    })
}

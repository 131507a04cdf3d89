//! Gives errors of the readers of formats the words that help with a user's own file.
//!
//! The readers serve published datasets too, and say of a damaged file that one gets it again. A user's own
//! file is corrected instead.

use super::{OwnDataError, OwnFileError};
use crate::{DataError, RecordError};

impl From<OwnFileError> for DataError {
    fn from(error: OwnFileError) -> Self {
        OwnDataError::File(error).into()
    }
}

/// The error of reading a user's own file, in words that help there.
pub(super) fn of_own_file(error: impl Into<DataError>) -> DataError {
    let error = match error.into() {
        DataError::Record(RecordError::Fields {
            path,
            line,
            expected,
            found,
        }) => OwnFileError::Fields {
            path,
            line,
            expected,
            found,
        },
        DataError::Record(RecordError::Quote { path, line }) => OwnFileError::Quote { path, line },
        DataError::Record(RecordError::Utf8 { path, line }) => OwnFileError::Utf8 { path, line },
        DataError::Record(RecordError::Json { path, source }) => {
            OwnFileError::Json { path, source }
        }
        DataError::Unpacked { path, limit, .. } => OwnFileError::Unpacked { path, limit },
        DataError::Gzip {
            path,
            found,
            source,
            ..
        } => OwnFileError::Gzip {
            path,
            found,
            source,
        },
        other => return other,
    };
    error.into()
}

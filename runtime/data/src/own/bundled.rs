//! Bundled datasets, read in another way.

use super::{Normalize, OwnDataError};
use crate::{Column, DataError, Dataset, Examples};

/// A bundled dataset under another scale. Its own one is automatic.
pub(super) fn scaled(data: Dataset, normalize: &Normalize) -> Result<Dataset, DataError> {
    if *normalize == Normalize::Auto {
        return Ok(data);
    }
    let scale = normalize.of_bytes(|| Ok((vec![], vec![])))?;
    if data.train.x().scale().is_none() {
        return Err(OwnDataError::Option {
            option: "normalize",
            data: data.name,
            why: "its inputs are numbers with a scale of their own",
        }
        .into());
    }
    let rescaled = |examples: &Examples| -> Result<Examples, DataError> {
        let mut columns: Vec<Column> = examples.columns().to_vec();
        columns[0] = columns[0].clone().with_scale(scale.clone())?;
        Ok(Examples::of_columns(columns, examples.labels())?)
    };
    Ok(Dataset {
        train: rescaled(&data.train)?,
        test: rescaled(&data.test)?,
        ..data
    })
}

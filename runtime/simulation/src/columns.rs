//! The columns of examples by their names in a program: `x` is the model's input, and `y` the examples' classes.

use fedround_data::augment::{Augment, Scratch, Visit};
use fedround_data::{Column, Examples};

use crate::error::RunError;

/// A column. The classes are none; [`gather_ids`] reads them.
pub(crate) fn column<'a>(examples: &'a Examples, name: &str) -> Result<&'a Column, RunError> {
    let column = match name {
        "x" => Some(examples.x()),
        name => examples.column(name),
    };
    column.ok_or_else(|| RunError::Column(name.to_owned()))
}

/// Gathers the classes or the ids of some examples.
pub(crate) fn gather_ids(
    examples: &Examples,
    name: &str,
    rows: &[usize],
    ids: &mut [i32],
) -> Result<(), RunError> {
    match name {
        "y" => examples.gather_labels_into(rows, ids),
        _ => column(examples, name)?.gather_ids_into(rows, ids)?,
    }
    Ok(())
}

/// Gathers the numbers of some examples. The model's inputs are augmented.
pub(crate) fn gather_numbers(
    examples: &Examples,
    name: &str,
    rows: &[usize],
    (augment, visit, scratch): (&Augment, Visit, &mut Scratch),
    numbers: &mut [f32],
) -> Result<(), RunError> {
    let column = column(examples, name)?;
    match name == "x" && !augment.is_empty() {
        true => augment.gather_into(column, rows, visit, scratch, numbers)?,
        false => column.gather_into(rows, numbers)?,
    }
    Ok(())
}

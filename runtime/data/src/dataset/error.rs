//! Errors of columns and of examples.

use super::{Element, Scale};

/// Why columns, labels and groups do not form a dataset, or a column cannot be used in some way.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// The elements of a column are not a whole number of examples.
    #[error(
        "column `{column}`: {found} elements are not a whole number of examples of shape {shape:?}, \
         of {} elements each", shape.iter().product::<usize>()
    )]
    Elements {
        /// The column.
        column: String,
        /// The shape of an example.
        shape: Vec<usize>,
        /// The number of elements.
        found: usize,
    },
    /// Columns and labels differ in number.
    #[error("column `{column}` has {found} examples, expected {expected}, one for each label")]
    Length {
        /// The column.
        column: String,
        /// The number of labels.
        expected: usize,
        /// The number of examples in the column.
        found: usize,
    },
    /// There is no column.
    #[error("examples need at least one column, the model's input")]
    None,
    /// Two columns have the same name.
    #[error("two columns are called `{column}`; give each a name of its own")]
    Twice {
        /// The name.
        column: String,
    },
    /// A scale is for another number of channels, or divides by zero.
    #[error(
        "column `{column}`: a scale of {} means and {} standard deviations does not fit {channels} channels; give a \
         finite mean and a standard deviation other than 0 for each channel, or one of both for all",
        .scale.mean_and_std().0.len(),
        .scale.mean_and_std().1.len()
    )]
    Scale {
        /// The column.
        column: String,
        /// The first dimension of an example.
        channels: usize,
        /// The scale.
        scale: Scale,
    },
    /// A column of ids was read as numbers, or the other way round.
    #[error("column `{column}` does not hold {expected}")]
    Element {
        /// The column.
        column: String,
        /// What was asked for.
        expected: Element,
    },
    /// Examples are not images where images are needed.
    #[error("`{name}` has examples of shape {shape:?}, expected images: [channels, height, width]")]
    NotImages {
        /// The dataset or column.
        name: String,
        /// The shape of an example.
        shape: Vec<usize>,
    },
    /// A dataset has no classes, or not a name for each.
    #[error(
        "the dataset has {classes} classes and names for {names}; give each class a name, of at least one class"
    )]
    Classes {
        /// The number of classes.
        classes: usize,
        /// The number of their names.
        names: usize,
    },
    /// A label is none of the classes.
    #[error(
        "{split} example {index} has the label {label}; expected one of the {classes} classes, 0 to {}",
        classes.saturating_sub(1)
    )]
    Label {
        /// `training`, `test` or `public`.
        split: &'static str,
        /// The example, from 0.
        index: usize,
        /// Its label.
        label: u16,
        /// The number of classes.
        classes: usize,
    },
    /// Test examples have other columns than training examples.
    #[error(
        "test examples need the columns of training examples: expected {expected}; found {found}"
    )]
    TestColumns {
        /// The first column of the training examples that differs.
        expected: String,
        /// The column of the test examples in its place.
        found: String,
    },
    /// Groups do not match the examples.
    #[error(
        "{found} groups of {examples} {split} examples; each needs one, below the number of names, {names}"
    )]
    Groups {
        /// `training` or `test`.
        split: &'static str,
        /// The number of examples.
        examples: usize,
        /// The number of groups given for them.
        found: usize,
        /// The number of names of groups.
        names: usize,
    },
}

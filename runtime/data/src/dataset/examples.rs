//! Examples: columns and labels of equal length.

use std::sync::Arc;

use super::{Column, ColumnError, Scale};
use crate::DataError;

/// Columns of values and a label for each example.
///
/// Column 0, `x`, is the model's input. Cheap to clone and to take
/// [`subset`](Self::subset)s of: what the columns hold is shared.
#[derive(Clone, Debug)]
pub struct Examples {
    /// At least one.
    columns: Arc<[Column]>,
    labels: Arc<[u16]>,
}

impl Examples {
    /// Examples of a single column `x` of bytes, one example after another, channel planes within
    /// each, and their labels.
    ///
    /// # Errors
    /// Where the number of bytes is not that of the labels times the shape.
    pub fn new(
        shape: impl Into<Arc<[usize]>>,
        bytes: Vec<u8>,
        labels: impl Into<Arc<[u16]>>,
        scale: Scale,
    ) -> Result<Self, ColumnError> {
        let x = Column::bytes("x", shape, bytes, scale)?;
        Self::of_columns(vec![x], labels)
    }

    /// [`new`](Self::new) for images that fit by construction.
    pub(crate) fn of_images(
        shape: [usize; 3],
        bytes: Vec<u8>,
        labels: Vec<u16>,
        scale: Scale,
    ) -> Self {
        debug_assert_eq!(bytes.len(), labels.len() * shape.iter().product::<usize>());
        Self {
            columns: Arc::new([Column::of_images(shape, bytes, scale)]),
            labels: labels.into(),
        }
    }

    /// Examples of any columns, the first of which is the model's input.
    ///
    /// # Errors
    /// No column, two of one name, one of another length than the labels.
    pub fn of_columns(
        columns: Vec<Column>,
        labels: impl Into<Arc<[u16]>>,
    ) -> Result<Self, ColumnError> {
        let labels = labels.into();
        if columns.is_empty() {
            return Err(ColumnError::None);
        }
        for (i, column) in columns.iter().enumerate() {
            let name = || column.name().to_owned();
            if columns[..i].iter().any(|c| c.name() == column.name()) {
                return Err(ColumnError::Twice { column: name() });
            }
            if column.len() != labels.len() {
                return Err(ColumnError::Length {
                    column: name(),
                    expected: labels.len(),
                    found: column.len(),
                });
            }
        }
        Ok(Self {
            columns: columns.into(),
            labels,
        })
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Every column; the first is the model's input.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name() == name)
    }

    /// The model's input.
    pub fn x(&self) -> &Column {
        &self.columns[0]
    }

    /// The shape of a model's input: `[channels, height, width]` of an image.
    pub fn shape(&self) -> &[usize] {
        self.x().shape()
    }

    /// Channels, height and width of a model's input.
    ///
    /// # Errors
    /// [`ColumnError::NotImages`] where it is of another rank.
    pub fn image_shape(&self) -> Result<[usize; 3], DataError> {
        image_shape(self.x().name(), self.shape())
    }

    /// What a model takes as channels, height and width: those of an image, and of a row of a table an
    /// image of one row, which dense layers flatten.
    ///
    /// # Errors
    /// [`ColumnError::NotImages`] where it is neither.
    pub fn input_shape(&self) -> Result<[usize; 3], DataError> {
        input_shape(self.x().name(), self.shape())
    }

    /// Elements of a model's input, the product of its shape.
    pub fn features(&self) -> usize {
        self.x().features()
    }

    /// The label of every example.
    pub fn labels(&self) -> &[u16] {
        &self.labels
    }

    /// The bytes of example `index`, where the model's input is of bytes.
    ///
    /// # Panics
    /// Where `index` is not below [`len`](Self::len).
    pub fn image(&self, index: usize) -> Option<&[u8]> {
        self.x().image(index)
    }

    /// Replaces the contents of `x` by the inputs of the examples at `indices`, `[indices,
    /// shape…]`, and of `y` by their labels. Keeps the vectors' allocations.
    ///
    /// # Errors
    /// As [`Column::gather_into`].
    ///
    /// # Panics
    /// Where an index is not below [`len`](Self::len).
    pub fn gather(
        &self,
        indices: &[usize],
        x: &mut Vec<f32>,
        y: &mut Vec<i32>,
    ) -> Result<(), DataError> {
        x.resize(indices.len() * self.features(), 0.0);
        y.resize(indices.len(), 0);
        self.gather_into(indices, x, y)
    }

    /// [`gather`](Self::gather) into slices of exactly the right length.
    ///
    /// # Errors
    /// As [`Column::gather_into`].
    ///
    /// # Panics
    /// Where an index is not below [`len`](Self::len), `x` does not have
    /// `indices.len() * features()` elements, or `y` not `indices.len()`.
    pub fn gather_into(
        &self,
        indices: &[usize],
        x: &mut [f32],
        y: &mut [i32],
    ) -> Result<(), DataError> {
        self.x().gather_into(indices, x)?;
        self.gather_labels_into(indices, y);
        Ok(())
    }

    /// Writes the labels of the examples at `indices`.
    ///
    /// # Panics
    /// Where an index is not below [`len`](Self::len), or `y` does not have `indices.len()`
    /// elements.
    pub fn gather_labels_into(&self, indices: &[usize], y: &mut [i32]) {
        assert_eq!(y.len(), indices.len(), "length of y");
        for (&index, label) in indices.iter().zip(y) {
            *label = i32::from(self.labels[index]);
        }
    }

    /// A view of the examples at `indices`, in that order: what the columns hold is shared.
    ///
    /// # Panics
    /// Where an index is not below [`len`](Self::len).
    #[must_use]
    pub fn subset(&self, indices: &[usize]) -> Self {
        let rows = Arc::from(indices);
        Self {
            columns: self.columns.iter().map(|c| c.subset(&rows)).collect(),
            labels: indices.iter().map(|&i| self.labels[i]).collect(),
        }
    }
}

/// As [`image_shape`], of tables too.
pub(crate) fn input_shape(name: &str, shape: &[usize]) -> Result<[usize; 3], DataError> {
    match shape {
        [columns] => Ok([1, 1, *columns]),
        shape => image_shape(name, shape),
    }
}

/// A shape as channels, height and width.
pub(crate) fn image_shape(name: &str, shape: &[usize]) -> Result<[usize; 3], DataError> {
    let not_images = |_| ColumnError::NotImages {
        name: name.to_owned(),
        shape: shape.to_vec(),
    };
    Ok(shape.try_into().map_err(not_images)?)
}

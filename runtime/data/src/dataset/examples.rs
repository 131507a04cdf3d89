//! Examples: columns and labels of equal length.

use std::sync::{Arc, OnceLock};

use md5::{Digest, Md5};

use super::{Column, ColumnError, Scale};
use crate::DataError;

/// Columns of values, and a label for each example.
///
/// The first column, `x`, is the model's input. Clones and [`subset`](Self::subset)s are cheap because
/// they share the columns' elements.
#[derive(Clone, Debug)]
pub struct Examples {
    /// At least one column.
    columns: Arc<[Column]>,
    labels: Arc<[u16]>,
    /// Known once somebody has asked for it.
    digest: OnceLock<String>,
}

impl Examples {
    /// Examples with a single column `x` of bytes: one example after another, each as channel planes.
    ///
    /// # Errors
    /// The number of bytes is not the number of labels times the size of the shape.
    pub fn new(
        shape: impl Into<Arc<[usize]>>,
        bytes: Vec<u8>,
        labels: impl Into<Arc<[u16]>>,
        scale: Scale,
    ) -> Result<Self, ColumnError> {
        let x = Column::bytes("x", shape, bytes, scale)?;
        Self::of_columns(vec![x], labels)
    }

    /// [`new`](Self::new) for images whose number is known to be right.
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
            digest: OnceLock::new(),
        }
    }

    /// Examples of any columns, the first of which is the model's input.
    ///
    /// # Errors
    /// There is no column, two columns have the same name, or a column does not have an example for
    /// each label.
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
            digest: OnceLock::new(),
        })
    }

    /// Shows everything that the examples hold as bytes, in order, for a checksum: names, shapes and
    /// scales of columns, their elements, and labels. Of image files it is their paths.
    pub fn contents(&self, visit: &mut dyn FnMut(&[u8])) {
        for column in self.columns.iter() {
            let scale = column.scale();
            let head = (column.name(), column.shape(), column.len(), scale);
            visit(format!("{head:?}").as_bytes());
            column.show(visit);
        }
        let labels: Vec<u8> = self.labels.iter().flat_map(|y| y.to_le_bytes()).collect();
        visit(&labels);
    }

    /// A digest of columns and labels, without scales, which a dataset has in its encoding. Of image files it is that
    /// of their contents when it was first asked for.
    pub(super) fn digest(&self) -> &str {
        if let Some(known) = self.digest.get() {
            return known;
        }
        // Not inside `get_or_init`: threads that read image files must not wait there for each other.
        let mut hasher = Md5::new();
        for column in self.columns() {
            let head = (column.name(), column.shape(), column.len());
            hasher.update(format!("{head:?}"));
            column.show_contents(&mut |bytes| hasher.update(bytes));
        }
        for label in self.labels() {
            hasher.update(label.to_le_bytes());
        }
        let digest = format!("{:x}", hasher.finalize());
        self.digest.get_or_init(|| digest)
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// All columns. The first is the model's input.
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
    /// [`ColumnError::NotImages`] if it has another rank.
    pub fn image_shape(&self) -> Result<[usize; 3], DataError> {
        image_shape(self.x().name(), self.shape())
    }

    /// Channels, height and width of a model's input. A row of `n` numbers counts as an image of shape
    /// `[1, 1, n]`, which dense layers flatten.
    ///
    /// # Errors
    /// [`ColumnError::NotImages`] if examples are neither images nor rows.
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

    /// The bytes of example `index`, or `None` if the model's input does not hold bytes.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
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
    /// If an index is not below [`len`](Self::len).
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
    /// If an index is not below [`len`](Self::len), `x` does not have
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
    /// If an index is not below [`len`](Self::len), or `y` does not have `indices.len()`
    /// elements.
    pub fn gather_labels_into(&self, indices: &[usize], y: &mut [i32]) {
        assert_eq!(y.len(), indices.len(), "length of y");
        for (&index, label) in indices.iter().zip(y) {
            *label = i32::from(self.labels[index]);
        }
    }

    /// A view of the examples at `indices`, in that order. No elements are copied.
    ///
    /// # Panics
    /// If an index is not below [`len`](Self::len).
    #[must_use]
    pub fn subset(&self, indices: &[usize]) -> Self {
        let rows = Arc::from(indices);
        Self {
            columns: self.columns.iter().map(|c| c.subset(&rows)).collect(),
            labels: indices.iter().map(|&i| self.labels[i]).collect(),
            digest: OnceLock::new(),
        }
    }
}

/// [`image_shape`], with a row of `n` numbers as an image of shape `[1, 1, n]`.
pub(crate) fn input_shape(name: &str, shape: &[usize]) -> Result<[usize; 3], DataError> {
    match shape {
        [columns] => Ok([1, 1, *columns]),
        shape => image_shape(name, shape),
    }
}

/// The shape of an image: channels, height and width.
pub(crate) fn image_shape(name: &str, shape: &[usize]) -> Result<[usize; 3], DataError> {
    let not_images = |_| ColumnError::NotImages {
        name: name.to_owned(),
        shape: shape.to_vec(),
    };
    Ok(shape.try_into().map_err(not_images)?)
}

//! A column: one named value of every example.

use std::fmt;
use std::sync::Arc;

use super::store::Store;
use super::{ColumnError, Element, Scale};
use crate::DataError;
use crate::formats::ImageFiles;

/// One named value of every example, such as an image, a row of numbers or a sentence of token
/// ids, all of one shape.
///
/// A column is a view: cloning it and taking [`subset`](Self::subset)s of it copies no elements.
#[derive(Clone)]
pub struct Column {
    name: Arc<str>,
    shape: Arc<[usize]>,
    pub(super) store: Store,
    /// The place of each example in the store. `None` for the store's own order.
    rows: Option<Arc<[usize]>>,
}

impl Column {
    /// A column of bytes, one example after another, that `scale` turns into numbers.
    ///
    /// # Errors
    /// The bytes are not a whole number of examples, or the scale does not fit the number of channels,
    /// which is the shape's first dimension.
    pub fn bytes(
        name: &str,
        shape: impl Into<Arc<[usize]>>,
        bytes: Vec<u8>,
        scale: Scale,
    ) -> Result<Self, ColumnError> {
        let column = Self::new(name, shape.into(), Store::Bytes(bytes.into(), scale));
        column.checked()
    }

    /// A column of numbers, one example after another.
    ///
    /// # Errors
    /// The elements are not a whole number of examples.
    pub fn floats(
        name: &str,
        shape: impl Into<Arc<[usize]>>,
        numbers: Vec<f32>,
    ) -> Result<Self, ColumnError> {
        Self::new(name, shape.into(), Store::Floats(numbers.into(), 0.0)).checked()
    }

    /// A column of integer ids, such as tokens, one example after another.
    ///
    /// # Errors
    /// The elements are not a whole number of examples.
    pub fn ids(
        name: &str,
        shape: impl Into<Arc<[usize]>>,
        ids: Vec<i32>,
    ) -> Result<Self, ColumnError> {
        Self::new(name, shape.into(), Store::Ids(ids.into())).checked()
    }

    /// A column of image files that are decoded as they are gathered, whose bytes `scale` turns
    /// into numbers.
    ///
    /// # Errors
    /// The scale does not fit the number of channels.
    pub fn images(
        name: &str,
        files: impl Into<Arc<ImageFiles>>,
        scale: Scale,
    ) -> Result<Self, ColumnError> {
        let files = files.into();
        let shape = Arc::from(files.shape());
        Self::new(name, shape, Store::Images(files, scale)).checked()
    }

    /// The column `x` of images whose shape is known to be right.
    pub(super) fn of_images(shape: [usize; 3], bytes: Vec<u8>, scale: Scale) -> Self {
        Self::new("x", shape.into(), Store::Bytes(bytes.into(), scale))
    }

    fn new(name: &str, shape: Arc<[usize]>, store: Store) -> Self {
        Self {
            name: name.into(),
            shape,
            store,
            rows: None,
        }
    }

    fn checked(self) -> Result<Self, ColumnError> {
        let (features, found) = (self.features(), self.store.elements());
        if features == 0 || found % features != 0 {
            return Err(ColumnError::Elements {
                column: self.name.to_string(),
                shape: self.shape.to_vec(),
                found,
            });
        }
        if let Some(scale) = self.scale() {
            let channels = self.shape.first().copied().unwrap_or(1);
            if !scale.fits(channels) {
                return Err(ColumnError::Scale {
                    column: self.name.to_string(),
                    channels,
                    scale: scale.clone(),
                });
            }
        }
        Ok(self)
    }

    /// The column's name; `x` for a model's input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The shape of one example: `[channels, height, width]` of an image.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Elements per example, the product of the shape.
    pub fn features(&self) -> usize {
        self.shape.iter().product()
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        match &self.rows {
            Some(rows) => rows.len(),
            None => self.store.elements() / self.features(),
        }
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the elements.
    pub fn element(&self) -> Element {
        match self.store {
            Store::Ids(_) => Element::Id,
            Store::Bytes(..) | Store::Floats(..) | Store::Images(..) => Element::Float,
        }
    }

    /// Whether examples are decoded from files as they are gathered.
    pub fn is_decoded(&self) -> bool {
        matches!(self.store, Store::Images(..))
    }

    /// The bytes of example `index`, or `None` if the column does not hold bytes.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn image(&self, index: usize) -> Option<&[u8]> {
        match &self.store {
            Store::Bytes(bytes, _) => Some(self.row(bytes, index)),
            _ => None,
        }
    }

    /// How bytes become numbers, or `None` if the column holds numbers or ids.
    pub fn scale(&self) -> Option<&Scale> {
        self.store.scale()
    }

    /// The same examples under another scale.
    ///
    /// # Errors
    /// The scale does not fit the number of channels.
    pub fn with_scale(mut self, scale: Scale) -> Result<Self, ColumnError> {
        if let Store::Bytes(_, own) | Store::Images(_, own) = &mut self.store {
            *own = scale;
        }
        self.checked()
    }

    /// Writes the numbers of the examples at `indices` to `out`, `[indices, shape…]`.
    ///
    /// # Errors
    /// The column holds ids, or an image file cannot be decoded.
    ///
    /// # Panics
    /// If an index is not below [`len`](Self::len), or `out` does not have
    /// `indices.len() * features()` elements.
    pub fn gather_into(&self, indices: &[usize], out: &mut [f32]) -> Result<(), DataError> {
        let features = self.features();
        assert_eq!(out.len(), indices.len() * features, "length of the output");
        let rows = indices.iter().zip(out.chunks_exact_mut(features));
        match &self.store {
            Store::Bytes(bytes, scale) => {
                rows.for_each(|(&i, row)| scale.apply(self.row(bytes, i), row));
            }
            Store::Floats(numbers, _) => {
                rows.for_each(|(&i, row)| row.copy_from_slice(self.row(numbers, i)));
            }
            Store::Images(files, scale) => {
                let at: Vec<usize> = indices.iter().map(|&i| self.at(i)).collect();
                files.decode_each(&at, out, |bytes, row| scale.apply(bytes, row))?;
            }
            Store::Ids(_) => return Err(self.is_not(Element::Float)),
        }
        Ok(())
    }

    /// Writes the ids of the examples at `indices` to `out`, `[indices, shape…]`.
    ///
    /// # Errors
    /// The column holds numbers.
    ///
    /// # Panics
    /// As [`gather_into`](Self::gather_into).
    pub fn gather_ids_into(&self, indices: &[usize], out: &mut [i32]) -> Result<(), DataError> {
        let features = self.features();
        assert_eq!(out.len(), indices.len() * features, "length of the output");
        let Store::Ids(ids) = &self.store else {
            return Err(self.is_not(Element::Id));
        };
        for (&i, row) in indices.iter().zip(out.chunks_exact_mut(features)) {
            row.copy_from_slice(self.row(ids, i));
        }
        Ok(())
    }

    /// The same examples with another number for black, which augmentation puts beyond the edges of images. Of
    /// columns of numbers it is 0 by default; of bytes it is always that of the byte 0.
    #[must_use]
    pub fn with_black(mut self, number: f32) -> Self {
        if let Store::Floats(_, black) = &mut self.store {
            *black = number;
        }
        self
    }

    /// The number that is black, for each channel.
    pub(crate) fn black_into(&self, black: &mut Vec<f32>) {
        black.resize(self.shape.first().copied().unwrap_or(1), 0.0);
        self.store.black(black);
    }

    /// A view of the examples at `indices`, in that order. No elements are copied.
    ///
    /// # Panics
    /// If an index is not below [`len`](Self::len).
    #[must_use]
    pub fn subset(&self, indices: &Arc<[usize]>) -> Self {
        let rows = match &self.rows {
            Some(rows) => indices.iter().map(|&i| rows[i]).collect(),
            None => {
                assert!(indices.iter().all(|&i| i < self.len()), "index of a subset");
                indices.clone()
            }
        };
        Self {
            rows: Some(rows),
            ..self.clone()
        }
    }

    /// Shows all elements as bytes, one example after another, for a checksum. Of image files it is
    /// their paths.
    pub(super) fn show(&self, visit: &mut dyn FnMut(&[u8])) {
        let features = self.features();
        (0..self.len()).for_each(|i| self.store.show(self.at(i), features, visit));
    }

    /// The same, but of image files what tells their contents apart.
    pub(super) fn show_contents(&self, visit: &mut dyn FnMut(&[u8])) {
        let Store::Images(files, _) = &self.store else {
            return self.show(visit);
        };
        let places: Vec<usize> = (0..self.len()).map(|i| self.at(i)).collect();
        files.marks(&places).iter().for_each(|mark| visit(mark));
    }

    /// The place of example `index` in the store.
    pub(super) fn at(&self, index: usize) -> usize {
        self.rows.as_ref().map_or(index, |rows| rows[index])
    }

    fn row<'a, T>(&self, elements: &'a [T], index: usize) -> &'a [T] {
        let (features, at) = (self.features(), self.at(index));
        &elements[at * features..(at + 1) * features]
    }

    fn is_not(&self, expected: Element) -> DataError {
        let column = self.name.to_string();
        DataError::Column(ColumnError::Element { column, expected })
    }
}

impl fmt::Debug for Column {
    // The elements would drown everything else that is printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column")
            .field("name", &self.name)
            .field("len", &self.len())
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

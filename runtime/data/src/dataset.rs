//! Examples in memory: bytes, turned into numbers as they are gathered.

use std::fmt;
use std::sync::Arc;

use crate::DataError;

/// A classification dataset: training and test examples of the same shape.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The name that it is loaded by, such as `mnist`.
    pub name: String,
    /// The examples that are dealt to clients.
    pub train: Examples,
    /// The examples that the server evaluates on.
    pub test: Examples,
    /// The number of classes; labels are `0..classes`.
    pub classes: usize,
    /// The name of each class, `classes` of them.
    pub class_names: &'static [&'static str],
}

/// How a byte becomes a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// `u / 255`, in `[0, 1]`.
    Unit,
    /// `(u / 255 - 0.5) / 0.25`, in `[-2, 2]`.
    Centred,
}

impl Scale {
    /// The numbers of `bytes`, in single precision throughout, written to as many `numbers`.
    ///
    /// Arithmetic in the widest vectors that the processor has: faster than a table look-up, and
    /// every step's batch passes through here.
    pub fn apply(self, bytes: &[u8], numbers: &mut [f32]) {
        match self {
            Self::Unit => map(bytes, numbers, |u| u / 255.0),
            Self::Centred => map(bytes, numbers, |u| (u / 255.0 - 0.5) / 0.25),
        }
    }
}

fn map(bytes: &[u8], numbers: &mut [f32], f: impl Fn(f32) -> f32) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (x, &u) in numbers.iter_mut().zip(bytes) {
                *x = f(f32::from(u));
            }
        },
    );
}

/// Images and labels. Cheap to clone: the bytes are shared.
#[derive(Clone)]
pub struct Examples {
    shape: [usize; 3],
    pixels: Arc<[u8]>,
    labels: Arc<[u8]>,
    scale: Scale,
}

impl Examples {
    /// Examples of `shape` (channels, height, width) from their bytes, one
    /// example after another, channel planes within each, and their labels.
    ///
    /// # Errors
    /// [`DataError::Examples`] where the number of bytes is not that of the
    /// labels times the shape.
    pub fn new(
        shape: [usize; 3],
        pixels: impl Into<Arc<[u8]>>,
        labels: impl Into<Arc<[u8]>>,
        scale: Scale,
    ) -> Result<Self, DataError> {
        let (pixels, labels) = (pixels.into(), labels.into());
        let expected = shape.iter().product::<usize>() * labels.len();
        if pixels.len() != expected {
            return Err(DataError::Examples {
                shape,
                labels: labels.len(),
                expected,
                found: pixels.len(),
            });
        }
        Ok(Self::of_bytes(shape, pixels, labels, scale))
    }

    /// [`new`](Self::new) for bytes that fit by construction.
    pub(crate) fn of_bytes(
        shape: [usize; 3],
        pixels: Arc<[u8]>,
        labels: Arc<[u8]>,
        scale: Scale,
    ) -> Self {
        Self {
            shape,
            pixels,
            labels,
            scale,
        }
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Channels, height and width of an example.
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// Numbers per example: channels times height times width.
    pub fn features(&self) -> usize {
        self.shape.iter().product()
    }

    /// The label of every example.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// The bytes of every example, `[len, channels, height, width]`.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// How each byte becomes a number.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The bytes of example `index`, `[channels, height, width]`.
    ///
    /// # Panics
    /// Where `index` is not below [`len`](Self::len).
    pub fn image(&self, index: usize) -> &[u8] {
        let features = self.features();
        &self.pixels[index * features..(index + 1) * features]
    }

    /// Replaces the contents of `x` by the examples at `indices`, as numbers
    /// `[indices, channels, height, width]`, and of `y` by their labels.
    /// Keeps the vectors' allocations.
    ///
    /// # Panics
    /// Where an index is not below [`len`](Self::len).
    pub fn gather(&self, indices: &[usize], x: &mut Vec<f32>, y: &mut Vec<i32>) {
        x.resize(indices.len() * self.features(), 0.0);
        y.resize(indices.len(), 0);
        self.gather_into(indices, x, y);
    }

    /// [`gather`](Self::gather) into slices of exactly the right length.
    ///
    /// # Panics
    /// Where an index is not below [`len`](Self::len), `x` does not have
    /// `indices.len() * features()` elements, or `y` not `indices.len()`.
    pub fn gather_into(&self, indices: &[usize], x: &mut [f32], y: &mut [i32]) {
        let features = self.features();
        assert_eq!(x.len(), indices.len() * features, "length of x");
        assert_eq!(y.len(), indices.len(), "length of y");
        for ((&index, row), label) in indices.iter().zip(x.chunks_exact_mut(features)).zip(y) {
            self.scale.apply(self.image(index), row);
            *label = i32::from(self.labels[index]);
        }
    }

    /// A copy of the examples at `indices`, in that order.
    ///
    /// # Panics
    /// Where an index is not below [`len`](Self::len).
    pub fn subset(&self, indices: &[usize]) -> Self {
        let pixels: Vec<u8> = indices
            .iter()
            .flat_map(|&i| self.image(i))
            .copied()
            .collect();
        let labels: Vec<u8> = indices.iter().map(|&i| self.labels[i]).collect();
        Self {
            shape: self.shape,
            pixels: pixels.into(),
            labels: labels.into(),
            scale: self.scale,
        }
    }
}

impl fmt::Debug for Examples {
    // The bytes would drown everything else that is printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Examples")
            .field("len", &self.len())
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> Examples {
        let pixels: Vec<u8> = vec![0, 51, 102, 255, 1, 2];
        Examples::new([1, 1, 2], pixels, vec![3, 1, 2], Scale::Unit).unwrap()
    }

    #[test]
    fn gathers_in_the_order_of_the_indices() {
        let (mut x, mut y) = (vec![9.0; 40], vec![7]);
        tiny().gather(&[2, 0], &mut x, &mut y);
        assert_eq!(x, [1.0 / 255.0, 2.0 / 255.0, 0.0, 0.2]);
        assert_eq!(y, [2, 3]);

        let (mut x2, mut y2) = ([0.0; 4], [0; 2]);
        tiny().gather_into(&[2, 0], &mut x2, &mut y2);
        assert_eq!((&x2[..], &y2[..]), (&x[..], &y[..]));
    }

    #[test]
    fn a_subset_is_a_dataset_of_its_own() {
        let part = tiny().subset(&[1]);
        assert_eq!(
            (part.len(), part.image(0), part.labels()),
            (1, &[102, 255][..], &[1][..])
        );
    }

    #[test]
    fn scales_span_their_ranges() {
        let bytes: Vec<u8> = (0..=255).collect();
        let (mut unit, mut centred) = ([f32::NAN; 256], [f32::NAN; 256]);
        Scale::Unit.apply(&bytes, &mut unit);
        Scale::Centred.apply(&bytes, &mut centred);
        assert_eq!((unit[0], unit[255]), (0.0, 1.0));
        assert_eq!((centred[0], centred[255]), (-2.0, 2.0));
        // Division, not multiplication by the rounded 1 / 255.
        assert!((0..=255u8).all(|u| unit[usize::from(u)] == f32::from(u) / 255.0));
    }

    #[test]
    fn lengths_must_agree() {
        let error = Examples::new([1, 2, 2], vec![0; 7], vec![0; 2], Scale::Unit).unwrap_err();
        assert_eq!(
            error.to_string(),
            "2 labels of shape [1, 2, 2] need 8 bytes of pixels, found 7"
        );
    }
}

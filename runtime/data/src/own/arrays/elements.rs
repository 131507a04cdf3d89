//! The elements of an array.

use crate::own::NumberScale;

/// The elements of an array.
pub(super) enum Elements {
    Bytes(Vec<u8>),
    Integers(Vec<i64>),
    /// Numbers of half or single precision.
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
    Texts(Vec<String>),
}

impl Elements {
    /// What they are, for errors.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Bytes(_) => "bytes",
            Self::Integers(_) => "integers",
            Self::Floats(_) | Self::Doubles(_) => "floats",
            Self::Texts(_) => "texts",
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(of) => of.len(),
            Self::Integers(of) => of.len(),
            Self::Floats(of) => of.len(),
            Self::Doubles(of) => of.len(),
            Self::Texts(of) => of.len(),
        }
    }

    /// An element as a number. A text is none.
    pub fn number(&self, at: usize) -> f64 {
        match self {
            Self::Bytes(of) => f64::from(of[at]),
            Self::Integers(of) => of[at] as f64,
            Self::Floats(of) => f64::from(of[at]),
            Self::Doubles(of) => of[at],
            Self::Texts(_) => f64::NAN,
        }
    }

    /// All numbers under a scale, in rows of so many. `place` says where in the array each of them is.
    pub fn scaled(
        &self,
        scale: &NumberScale,
        features: usize,
        place: impl Fn(usize) -> usize,
    ) -> Vec<f32> {
        let places = (0..self.len()).map(place);
        let single = |numbers: &mut dyn Iterator<Item = f32>| {
            let mut numbers: Vec<f32> = numbers.collect();
            let rows = numbers.chunks_exact_mut(features);
            rows.for_each(|row| scale.apply(row));
            numbers
        };
        match self {
            Self::Bytes(of) => single(&mut places.map(|at| f32::from(of[at]))),
            Self::Floats(of) => single(&mut places.map(|at| of[at])),
            Self::Integers(_) | Self::Doubles(_) | Self::Texts(_) => places
                .enumerate()
                .map(|(i, at)| scale.scaled(self.number(at), i % features))
                .collect(),
        }
    }

    /// Adds elements of the same kind. Gives `false` for those of another kind.
    pub fn extend(&mut self, more: Self) -> bool {
        match (&mut *self, more) {
            (Self::Bytes(all), Self::Bytes(more)) => all.extend(more),
            (Self::Integers(all), Self::Integers(more)) => all.extend(more),
            (Self::Floats(all), Self::Floats(more)) => all.extend(more),
            (Self::Doubles(all), Self::Doubles(more)) => all.extend(more),
            (Self::Doubles(all), Self::Floats(more)) => {
                all.extend(more.into_iter().map(f64::from));
            }
            (Self::Floats(all), Self::Doubles(more)) => {
                let all = all.iter().copied().map(f64::from);
                *self = Self::Doubles(all.chain(more).collect());
            }
            _ => return false,
        }
        true
    }
}

/// Elements of `size` bytes in the order of C, where the last index changes fastest. In `bytes`, the first one
/// does (the order of Fortran).
pub(super) fn in_c_order(bytes: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    // The distance of two neighbours along each axis.
    let strides: Vec<usize> = shape
        .iter()
        .scan(size, |next, &n| {
            let stride = *next;
            *next *= n;
            Some(stride)
        })
        .collect();
    let mut index = vec![0; shape.len()];
    let (mut ordered, mut at) = (Vec::with_capacity(bytes.len()), 0);
    for _ in 0..bytes.len() / size {
        ordered.extend_from_slice(&bytes[at..at + size]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_c_has_the_last_index_fastest() {
        // Element [i, j, k] of shape [2, 3, 2] is 100 i + 10 j + k, two bytes each.
        let number = |i, j, k| (100 * i + 10 * j + k) as u16;
        let bytes = |all: Vec<u16>| all.into_iter().flat_map(u16::to_le_bytes).collect();
        let (mut fortran, mut c) = (vec![], vec![]);
        for at in 0..12 {
            fortran.push(number(at % 2, at / 2 % 3, at / 6));
            c.push(number(at / 6, at / 2 % 3, at % 2));
        }
        let (fortran, c): (Vec<u8>, Vec<u8>) = (bytes(fortran), bytes(c));
        assert_eq!(in_c_order(&fortran, &[2, 3, 2], 2), c);
        assert!(in_c_order(&[], &[0, 3], 2).is_empty());
    }
}

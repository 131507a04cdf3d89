//! A client with rotated images.

use std::collections::BTreeSet;

use super::pool::{Draw, Pool};
use super::{Partition, PartitionError};
use crate::{Column, Examples};

/// A counter-clockwise rotation of square images by a multiple of 90 degrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// 1 to 3.
    quarters: u8,
}

impl Rotation {
    /// All rotations: by 90, 180 and 270 degrees.
    pub const ALL: [Self; 3] = [
        Self { quarters: 1 },
        Self { quarters: 2 },
        Self { quarters: 3 },
    ];

    /// A rotation by 90, 180 or 270 degrees. `None` for any other angle.
    pub fn degrees(degrees: u32) -> Option<Self> {
        let quarters = match degrees {
            90 => 1,
            180 => 2,
            270 => 3,
            _ => return None,
        };
        Some(Self { quarters })
    }

    /// The angle in degrees: 90, 180 or 270.
    pub fn in_degrees(self) -> u32 {
        u32::from(self.quarters) * 90
    }

    /// A copy of `examples` in which the images of column `x` at `indices` are rotated, each once.
    ///
    /// # Errors
    /// Column `x` does not hold square images as bytes.
    ///
    /// # Panics
    /// If an index is not below the number of examples.
    pub fn turned(
        self,
        examples: &Examples,
        indices: &[usize],
    ) -> Result<Examples, PartitionError> {
        let x = examples.x();
        let not_square = || PartitionError::NotSquare {
            shape: x.shape().to_vec(),
        };
        let (&[_, height, width], Some(scale)) = (x.shape(), x.scale()) else {
            return Err(not_square());
        };
        if height != width {
            return Err(not_square());
        }
        let images = (0..examples.len()).map(|i| x.image(i));
        let mut bytes = images
            .collect::<Option<Vec<_>>>()
            .ok_or_else(not_square)?
            .concat();
        for index in indices.iter().collect::<BTreeSet<_>>() {
            let image = &mut bytes[index * x.features()..(index + 1) * x.features()];
            for plane in image.chunks_exact_mut(height * width) {
                for _ in 0..self.quarters {
                    quarter(plane, width);
                }
            }
        }
        let turned = Column::bytes(x.name(), x.shape(), bytes, scale.clone());
        let others = examples.columns()[1..].iter().cloned().map(Ok);
        let columns = std::iter::once(turned)
            .chain(others)
            .collect::<Result<_, _>>();
        let examples = columns.and_then(|columns| Examples::of_columns(columns, examples.labels()));
        // The shape and the lengths are those of the examples.
        examples.map_err(|_| not_square())
    }
}

/// Rotates a plane of `side` rows counter-clockwise, so that the last column becomes the first row.
fn quarter(plane: &mut [u8], side: usize) {
    let before = plane.to_vec();
    for (i, pixel) in plane.iter_mut().enumerate() {
        let (row, column) = (i / side, i % side);
        *pixel = before[column * side + side - 1 - row];
    }
}

/// Applies `base` to all but the last client, which gets random examples.
pub(super) fn newcomer(
    pool: &Pool,
    base: &Partition,
    examples: usize,
) -> Result<Vec<Vec<usize>>, PartitionError> {
    let (clients, all) = (pool.clients, pool.len());
    if clients < 2 || all < examples.saturating_add(clients - 1) {
        return Err(PartitionError::NoRoom {
            clients,
            newcomer: examples,
            examples: all,
        });
    }
    let mut own = pool.permutation(all, Draw::Newcomer, 0);
    let mut rest = own.split_off(examples);
    rest.sort_unstable();
    let labels: Vec<u16> = rest.iter().map(|&i| pool.labels[i]).collect();
    let groups = pool
        .groups
        .map(|groups| rest.iter().map(|&i| groups[i]).collect::<Vec<_>>());
    let mut parts = base.assign(&Pool {
        labels: &labels,
        groups: groups.as_deref(),
        clients: clients - 1,
        ..*pool
    })?;
    for example in parts.iter_mut().flatten() {
        *example = rest[*example];
    }
    parts.push(own);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    #[test]
    fn a_quarter_turn_is_counter_clockwise() {
        let bytes: Vec<u8> = (1..=8).collect();
        let pair = Examples::new([1, 2, 2], bytes, [0, 1], Scale::Unit).unwrap();
        let turn = |degrees| Rotation::degrees(degrees).unwrap();
        let one = turn(90).turned(&pair, &[0]).unwrap();
        assert_eq!(one.image(0), Some(&[2, 4, 1, 3][..]));
        assert_eq!(one.image(1), Some(&[5, 6, 7, 8][..]));
        assert_eq!(one.labels(), [0, 1]);
        let back = turn(270).turned(&one, &[0]).unwrap();
        assert_eq!(back.image(0), pair.image(0));
        let half = turn(180).turned(&pair, &[1, 1]).unwrap();
        assert_eq!(half.image(1), Some(&[8, 7, 6, 5][..]));
        assert_eq!(Rotation::degrees(45), None);
    }

    #[test]
    fn planes_turn_on_their_own() {
        let bytes = vec![1, 2, 3, 4, 5, 6, 7, 8];
        let colour = Examples::new([2, 2, 2], bytes, [0], Scale::Unit).unwrap();
        let turned = Rotation { quarters: 1 }.turned(&colour, &[0]).unwrap();
        assert_eq!(turned.image(0), Some(&[2, 4, 1, 3, 6, 8, 5, 7][..]));
    }

    #[test]
    fn only_square_images_turn() {
        let flat = Examples::new([1, 1, 2], vec![0; 2], [0], Scale::Unit).unwrap();
        let error = Rotation { quarters: 1 }.turned(&flat, &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot rotate column x of shape [1, 1, 2]: expected square images [channels, side, side] in memory; \
             use a partition without `+rotated`"
        );
    }
}

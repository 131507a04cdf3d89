//! Divides the elements of a program into blocks, such that broadcast operands are cheap to read in each block.

use std::ops::Range;

use super::broadcast::Broadcast;

/// The largest number of elements of a block. Ten values of this size fit in the first-level cache.
pub(crate) const BLOCK: usize = 1024;
/// The least number of elements of a segment. With shorter segments, starting the loops of a block would cost more time than
/// the scalar operands save.
const MIN_SEGMENT: usize = 128;

/// The sizes of the blocks of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockLayout {
    /// The number of elements of a block. The last block of a segment or of the range may be shorter.
    pub block: usize,
    /// The number of elements of a *segment*: neighbouring elements for which each repeating operand has a single value,
    /// such as the pixels of a channel. A block lies within one segment, so these operands are scalars in it. `None` if the
    /// operands do not allow segments.
    pub segment: Option<usize>,
}

impl BlockLayout {
    /// The blocks of `len` elements. Blocks end at the ends of rows of `row` elements, unless they would be too long. They
    /// also end at the ends of `planes` of so many elements, if planes are given and can be segments.
    pub fn new(broadcasts: &[Broadcast], len: usize, row: usize, planes: Option<usize>) -> Self {
        if let Some(segment) = segment(broadcasts, planes) {
            let parts = segment.div_ceil(BLOCK);
            return Self {
                block: segment.div_ceil(parts).next_multiple_of(16),
                segment: Some(segment),
            };
        }
        // The length of a block is a multiple of a vector and, if possible, of the period of each repeating operand. Such an
        // operand is then the same in every block.
        let mut unit = 16;
        let repeating = broadcasts
            .iter()
            .filter(|broadcast| !broadcast.is_full(len));
        let periods = repeating.map(|broadcast| broadcast.period());
        for period in periods.chain([row]) {
            let both = least_common_multiple(unit, period.max(1));
            if both <= BLOCK {
                unit = both;
            }
        }
        Self {
            block: BLOCK / unit * unit,
            segment: None,
        }
    }

    /// The end of the block that begins at `start`.
    #[inline(always)]
    pub fn end(self, start: usize) -> usize {
        let end = start + self.block;
        match self.segment {
            Some(segment) => end.min(start - start % segment + segment),
            None => end,
        }
    }

    /// Calls `f` for each block of a range, which must start at the start of a block.
    #[inline(always)]
    pub fn each_block(self, elements: Range<usize>, mut f: impl FnMut(Range<usize>)) {
        let mut start = elements.start;
        while start < elements.end {
            let end = self.end(start).min(elements.end);
            f(start..end);
            start = end;
        }
    }

    /// A number of elements close to `elements` that is a whole number of rows and of blocks (or segments). It is `len` if
    /// there is no such number.
    pub fn part_len(self, row: usize, elements: usize, len: usize) -> usize {
        let unit = self.segment.unwrap_or(self.block);
        let unit = least_common_multiple(unit, row.max(1));
        if unit > 2 * elements {
            return len.max(1);
        }
        elements.next_multiple_of(unit)
    }
}

/// The length of a segment, if all repeating operands and the planes have the same one and it is long enough.
fn segment(broadcasts: &[Broadcast], planes: Option<usize>) -> Option<usize> {
    let repeating = broadcasts.iter().filter(|b| b.repeat > 1 && b.count > 0);
    let mut lengths = repeating.map(|broadcast| broadcast.repeat).chain(planes);
    let first = lengths.next().filter(|len| *len >= MIN_SEGMENT)?;
    lengths.all(|len| len == first).then_some(first)
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(shapes: &[&[usize]], shape: &[usize]) -> (BlockLayout, Vec<usize>) {
        let broadcasts = shapes.iter().map(|from| Broadcast::of(from, shape));
        let broadcasts: Vec<Broadcast> = broadcasts.map(Option::unwrap).collect();
        let len = shape.iter().product();
        let layout = BlockLayout::new(&broadcasts, len, 1, None);
        let mut ends = vec![];
        let mut start = 0;
        while start < len {
            start = layout.end(start).min(len);
            ends.push(start);
        }
        (layout, ends)
    }

    #[test]
    fn channels_of_many_pixels_are_segments() {
        let (layout, ends) = blocks(&[&[1, 3, 1, 1], &[2, 3, 14, 14]], &[2, 3, 14, 14]);
        assert_eq!(layout.segment, Some(196));
        assert_eq!(ends, [196, 392, 588, 784, 980, 1176]);
        let (layout, ends) = blocks(&[&[1, 2, 1, 1]], &[1, 2, 40, 50]);
        assert_eq!((layout.block, layout.segment), (1008, Some(2000)));
        assert_eq!(ends, [1008, 2000, 3008, 4000]);
    }

    #[test]
    fn other_programs_have_blocks_of_a_thousand_elements_or_whole_periods() {
        let (layout, ends) = blocks(&[&[1, 8, 1, 1]], &[4, 8, 7, 7]);
        assert_eq!((layout.segment, ends.len()), (None, 2));
        let (layout, _) = blocks(&[&[1, 100]], &[50, 100]);
        assert_eq!((layout.block, layout.segment), (800, None));
        // The two operands repeat with different lengths.
        let (layout, _) = blocks(&[&[2, 1, 1], &[2, 300, 1]], &[2, 300, 200]);
        assert_eq!(layout.segment, None);
    }
}

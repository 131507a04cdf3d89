//! How the elements of a program are divided into blocks.

use std::ops::Range;

use super::broadcast::Broadcast;

/// The largest number of elements of a block. Ten values of this size fit in the first-level cache.
pub(crate) const BLOCK: usize = 1024;
/// The shortest segment that has blocks of its own. For shorter ones, the loops over a block would cost more
/// than they save.
const SHORTEST_SEGMENT: usize = 128;

/// The blocks of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// Elements of a block, but for the last one of a segment or of the range.
    pub block: usize,
    /// The number of neighbouring elements for which each operand that repeats its elements has one value, as
    /// the pixels of a channel. No block is in two segments.
    pub segment: Option<usize>,
}

impl Extent {
    /// The blocks of `len` elements. They end at the ends of rows of `row` elements, unless such blocks would
    /// be too long, and at the ends of `planes` of so many elements, if there are any and they can be segments.
    pub fn new(broadcasts: &[Broadcast], len: usize, row: usize, planes: Option<usize>) -> Self {
        if let Some(segment) = segment(broadcasts, planes) {
            let parts = segment.div_ceil(BLOCK);
            return Self {
                block: segment.div_ceil(parts).next_multiple_of(16),
                segment: Some(segment),
            };
        }
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

    /// Runs `f` on each block of a range, which starts at the start of a block.
    #[inline(always)]
    pub fn each_block(self, elements: Range<usize>, mut f: impl FnMut(Range<usize>)) {
        let mut start = elements.start;
        while start < elements.end {
            let end = self.end(start).min(elements.end);
            f(start..end);
            start = end;
        }
    }

    /// A number of elements close to `elements` that is a whole number of rows and of blocks, at most `len`.
    pub fn part(self, row: usize, elements: usize, len: usize) -> usize {
        let unit = self.segment.unwrap_or(self.block);
        let unit = least_common_multiple(unit, row.max(1));
        if unit > 2 * elements {
            return len.max(1);
        }
        elements.next_multiple_of(unit)
    }
}

fn segment(broadcasts: &[Broadcast], planes: Option<usize>) -> Option<usize> {
    let repeated = broadcasts.iter().filter(|b| b.each > 1 && b.count > 0);
    let mut segments = repeated.map(|broadcast| broadcast.each).chain(planes);
    let first = segments.next().filter(|each| *each >= SHORTEST_SEGMENT)?;
    segments.all(|each| each == first).then_some(first)
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

    fn blocks(shapes: &[&[usize]], shape: &[usize]) -> (Extent, Vec<usize>) {
        let broadcasts = shapes.iter().map(|from| Broadcast::of(from, shape));
        let broadcasts: Vec<Broadcast> = broadcasts.map(Option::unwrap).collect();
        let len = shape.iter().product();
        let extent = Extent::new(&broadcasts, len, 1, None);
        let mut ends = vec![];
        let mut start = 0;
        while start < len {
            start = extent.end(start).min(len);
            ends.push(start);
        }
        (extent, ends)
    }

    #[test]
    fn channels_of_many_pixels_are_segments() {
        let (extent, ends) = blocks(&[&[1, 3, 1, 1], &[2, 3, 14, 14]], &[2, 3, 14, 14]);
        assert_eq!(extent.segment, Some(196));
        assert_eq!(ends, [196, 392, 588, 784, 980, 1176]);
        let (extent, ends) = blocks(&[&[1, 2, 1, 1]], &[1, 2, 40, 50]);
        assert_eq!((extent.block, extent.segment), (1008, Some(2000)));
        assert_eq!(ends, [1008, 2000, 3008, 4000]);
    }

    #[test]
    fn other_programs_have_blocks_of_a_thousand_elements_or_whole_periods() {
        let (extent, ends) = blocks(&[&[1, 8, 1, 1]], &[4, 8, 7, 7]);
        assert_eq!((extent.segment, ends.len()), (None, 2));
        let (extent, _) = blocks(&[&[1, 100]], &[50, 100]);
        assert_eq!((extent.block, extent.segment), (800, None));
        // Two segments of other lengths.
        let (extent, _) = blocks(&[&[2, 1, 1], &[2, 300, 1]], &[2, 300, 200]);
        assert_eq!(extent.segment, None);
    }
}

//! Broadcasting: how the elements of an operand are repeated over the result.

use std::ops::Range;

/// Element `i` of the result uses element `i / repeat % count` of the operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broadcast {
    /// The number of neighbouring elements of the result that use the same element of the operand.
    pub repeat: usize,
    /// The number of elements of the operand.
    pub count: usize,
}

impl Broadcast {
    /// The broadcast of a tensor of shape `from` to the shape `to`. `None` if the dimensions that are not repeated are not
    /// neighbours. Missing leading dimensions count as 1.
    pub fn of(from: &[usize], to: &[usize]) -> Option<Self> {
        let missing = to.len().checked_sub(from.len())?;
        let pairs = || from.iter().zip(&to[missing..]);
        if !pairs().all(|(from, to)| from == to || *from == 1) {
            return None;
        }
        let repeats = |(from, to): &(&usize, &usize)| from != to;
        // From the last dimension on: repeated dimensions, then dimensions that are not repeated. All others must be
        // repeated too. Dimensions of size 1 fit anywhere.
        let mut rest = pairs().rev().peekable();
        let (mut repeat, mut count) = (1, 1);
        if from.iter().any(|dim| *dim != 1) {
            while let Some((_, to)) = rest.next_if(|(from, _)| **from == 1) {
                repeat *= to;
            }
            while let Some((from, _)) = rest.next_if(|pair| !repeats(pair)) {
                count *= from;
            }
        }
        rest.all(|(from, _)| *from == 1)
            .then_some(Self { repeat, count })
    }

    /// Whether the operand has as many elements as the result, `len`.
    pub fn is_full(self, len: usize) -> bool {
        self.repeat == 1 && self.count == len
    }

    /// The period of the repetition: blocks whose length is a multiple of it are all equal.
    pub fn period(self) -> usize {
        if self.count == 1 {
            1
        } else {
            self.repeat * self.count
        }
    }

    /// The index of the operand's element that element `i` of the result uses.
    #[inline(always)]
    pub fn index(self, i: usize) -> usize {
        i / self.repeat % self.count
    }

    /// The range of the operand's elements that a block of the result uses, if it uses each of them once.
    #[inline(always)]
    pub fn part(self, block: &Range<usize>) -> Option<Range<usize>> {
        if self.repeat > 1 {
            return None;
        }
        let start = self.index(block.start);
        let end = start + block.len();
        (end <= self.count).then_some(start..end)
    }

    /// Writes the broadcast elements of the result to `to`, from element `start` of the result on.
    #[inline(always)]
    pub fn fill(self, values: &[f32], start: usize, to: &mut [f32]) {
        let Self { repeat, count } = self;
        // The position within a period.
        let mut phase = start % (repeat * count).max(1);
        let mut rest = to;
        while !rest.is_empty() {
            let len = if repeat == 1 {
                let part = &values[phase..];
                let len = part.len().min(rest.len());
                rest[..len].copy_from_slice(&part[..len]);
                len
            } else {
                let len = (repeat - phase % repeat).min(rest.len());
                rest[..len].fill(values[phase / repeat]);
                len
            };
            phase = (phase + len) % (repeat * count);
            rest = &mut rest[len..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_dimensions() {
        let of =
            |from: &[usize], to: &[usize]| Broadcast::of(from, to).map(|b| (b.repeat, b.count));
        assert_eq!(of(&[3, 4], &[3, 4]), Some((1, 12)));
        assert_eq!(of(&[1], &[3, 4]), Some((1, 1)));
        assert_eq!(of(&[], &[3, 4]), Some((1, 1)));
        assert_eq!(of(&[1, 4], &[3, 4]), Some((1, 4)));
        assert_eq!(of(&[4], &[3, 4]), Some((1, 4)));
        assert_eq!(of(&[3, 1], &[3, 4]), Some((4, 3)));
        assert_eq!(of(&[1, 5, 1, 1], &[2, 5, 3, 4]), Some((12, 5)));
        assert_eq!(of(&[2, 1, 3, 1], &[2, 1, 3, 4]), Some((4, 6)));
        assert_eq!(of(&[2, 1, 4], &[2, 3, 4]), None);
        assert_eq!(of(&[3, 4], &[4]), None);
        assert_eq!(of(&[2], &[3]), None);
        assert_eq!(of(&[0, 4], &[0, 4]), Some((1, 0)));
        assert_eq!(of(&[1, 4], &[0, 4]), Some((1, 4)));
    }

    #[test]
    fn blocks_are_filled_from_anywhere() {
        for (repeat, count) in [(1, 1), (1, 5), (3, 2), (7, 1), (4, 4)] {
            let values: Vec<f32> = (0..count).map(|v| v as f32).collect();
            for start in 0..20 {
                let mut block = [-1.0; 17];
                Broadcast { repeat, count }.fill(&values, start, &mut block);
                for (i, value) in block.iter().enumerate() {
                    assert_eq!(*value, ((start + i) / repeat % count) as f32);
                }
            }
        }
    }
}

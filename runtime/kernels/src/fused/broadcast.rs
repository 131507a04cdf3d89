//! Broadcasting: how the elements of an operand are repeated over the result.

use std::ops::Range;

/// Element `i` of the result uses element `i / each % count` of the operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broadcast {
    /// Neighbouring elements of the result that use one element.
    pub each: usize,
    /// Elements of the operand.
    pub count: usize,
}

impl Broadcast {
    /// The repetition of a tensor of shape `from` to the shape `to`. `None` if the dimensions that are not
    /// repeated are not neighbours. Missing leading dimensions count as 1.
    pub fn of(from: &[usize], to: &[usize]) -> Option<Self> {
        let missing = to.len().checked_sub(from.len())?;
        let pairs = || from.iter().zip(&to[missing..]);
        if !pairs().all(|(from, to)| from == to || *from == 1) {
            return None;
        }
        let repeats = |(from, to): &(&usize, &usize)| from != to;
        // From the end: repeated dimensions (or ones), then those that are not repeated, then the rest.
        let mut rest = pairs().rev().peekable();
        let (mut each, mut count) = (1, 1);
        if from.iter().any(|dim| *dim != 1) {
            while let Some((_, to)) = rest.next_if(|(from, _)| **from == 1) {
                each *= to;
            }
            while let Some((from, _)) = rest.next_if(|pair| !repeats(pair)) {
                count *= from;
            }
        }
        rest.all(|(from, _)| *from == 1)
            .then_some(Self { each, count })
    }

    /// Whether the operand has as many elements as the result, `len`.
    pub fn is_full(self, len: usize) -> bool {
        self.each == 1 && self.count == len
    }

    /// The period of the repetition: blocks whose length is a multiple of it are all equal.
    pub fn period(self) -> usize {
        if self.count == 1 {
            1
        } else {
            self.each * self.count
        }
    }

    /// The place of the element that element `i` of the result uses.
    #[inline(always)]
    pub fn place(self, i: usize) -> usize {
        i / self.each % self.count
    }

    /// The places of the elements that a block of the result uses, if it uses each of them once.
    #[inline(always)]
    pub fn part(self, block: &Range<usize>) -> Option<Range<usize>> {
        if self.each > 1 {
            return None;
        }
        let start = self.place(block.start);
        let end = start + block.len();
        (end <= self.count).then_some(start..end)
    }

    /// Writes the elements of the result from `start` on.
    #[inline(always)]
    pub fn fill(self, values: &[f32], start: usize, to: &mut [f32]) {
        let Self { each, count } = self;
        let mut at = start % (each * count).max(1);
        let mut rest = to;
        while !rest.is_empty() {
            let len = if each == 1 {
                let part = &values[at..];
                let len = part.len().min(rest.len());
                rest[..len].copy_from_slice(&part[..len]);
                len
            } else {
                let len = (each - at % each).min(rest.len());
                rest[..len].fill(values[at / each]);
                len
            };
            at = (at + len) % (each * count);
            rest = &mut rest[len..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_dimensions() {
        let of = |from: &[usize], to: &[usize]| Broadcast::of(from, to).map(|b| (b.each, b.count));
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
        for (each, count) in [(1, 1), (1, 5), (3, 2), (7, 1), (4, 4)] {
            let values: Vec<f32> = (0..count).map(|v| v as f32).collect();
            for start in 0..20 {
                let mut block = [-1.0; 17];
                Broadcast { each, count }.fill(&values, start, &mut block);
                for (i, value) in block.iter().enumerate() {
                    assert_eq!(*value, ((start + i) / each % count) as f32);
                }
            }
        }
    }
}

//! Asking for the operands of the next block while one is computed.

use std::ops::Range;

use super::step::Step;
use super::work::{Source, Work};
use crate::simd::{LINE, prefetch};

/// Values that the second-level cache holds, about.
const CACHED: usize = 1 << 18;

/// The operands of all elements, where they come from memory: a block is about a page of each of them, at whose
/// end the processor stops to read ahead.
pub(super) struct Ahead<'a> {
    operands: Vec<Source<'a>>,
    /// Steps of a block, each of which asks for a part.
    steps: usize,
}

impl<'a> Ahead<'a> {
    /// Nothing, where the operands fit in the cache.
    pub fn of(work: &Work<'a>) -> Self {
        let len = work.dims.len;
        let steps = || work.program.live_steps().map(|(_, step)| step);
        let whole = || {
            steps().filter_map(|step| match *step {
                Step::Operand(operand) if work.broadcasts[operand].is_full(len) => {
                    Some(work.operands[operand])
                }
                _ => None,
            })
        };
        let operands = match whole().count() * len {
            ..=CACHED => Vec::new(),
            _ => whole().collect(),
        };
        Self {
            operands,
            steps: steps().filter(|step| step.is_computed()).count(),
        }
    }

    /// Asks for the part of the block after `block` that is that of a step. Targets have the elements from
    /// `first` on.
    #[inline(always)]
    pub fn ask(&self, step: usize, block: &Range<usize>, (first, targets): (usize, &[&mut [f32]])) {
        let start = |step| block.end + step * block.len() / self.steps;
        for operand in &self.operands {
            let (values, first) = match *operand {
                Source::Operand(values) => (values, 0),
                Source::Output(output) => (&*targets[output], first),
                _ => continue,
            };
            for element in (start(step)..start(step + 1)).step_by(LINE) {
                prefetch(values, element - first);
            }
        }
    }
}

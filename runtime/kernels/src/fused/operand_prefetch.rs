//! Prefetches the operands of the next block while a block is computed.
//!
//! A block is about a page of each operand, and the processor's own prefetcher stops at the end of a page.

use std::ops::Range;

use super::bound_program::{BoundProgram, Source};
use super::step::Step;
use crate::simd::{LINE, prefetch};

/// The number of values that the second-level cache holds, roughly.
const CACHED: usize = 1 << 18;

/// The operands to prefetch.
pub(super) struct OperandPrefetch<'a> {
    /// The operands with the full shape; empty if they all fit in the second-level cache.
    operands: Vec<Source<'a>>,
    /// The number of computed steps of the program. Each step prefetches an equal share of the next block.
    steps: usize,
}

impl<'a> OperandPrefetch<'a> {
    pub fn new(bound: &BoundProgram<'a>) -> Self {
        let len = bound.dims.len;
        let steps = || bound.program.live_steps().map(|(_, step)| step);
        let full_operands = || {
            steps().filter_map(|step| match *step {
                Step::Operand(operand) if bound.broadcasts[operand].is_full(len) => {
                    Some(bound.operands[operand])
                }
                _ => None,
            })
        };
        let operands = match full_operands().count() * len {
            ..=CACHED => Vec::new(),
            _ => full_operands().collect(),
        };
        Self {
            operands,
            steps: steps().filter(|step| step.is_computed()).count(),
        }
    }

    /// Prefetches the share that belongs to computed step number `step` of the block after `block`. `targets` are the
    /// outputs, which have the elements from `first` on. An output may hold the elements of an operand.
    #[inline(always)]
    pub fn prefetch_share(
        &self,
        step: usize,
        block: &Range<usize>,
        (first, targets): (usize, &[&mut [f32]]),
    ) {
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

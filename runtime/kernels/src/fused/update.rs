//! `w + c (w - w0)` with `|w - w0|²`, and `w + c d`, updates in place, in one loop.
//!
//! FedProx makes the first in every step, for all parameters, and SCAFFOLD the second. As separate steps of a
//! program, every value would be written to the first-level cache and read again, which takes longer than
//! reading both tensors from the second-level cache. The loop gives the same bits as the steps.

use super::program::{Sum, arguments};
use super::step::{Binary, Step, Values};
use super::work::{Source, Work};
use crate::lanes;

/// The tensor by which another one is moved, and how far.
pub(super) struct Update<'a> {
    other: &'a [f32],
    factor: f32,
    /// Whether it is the target of a pull, whose squared distance is summed, and not the direction.
    is_target: bool,
}

impl<'a> Update<'a> {
    /// Recognises a program that is an update whose only output replaces `w`.
    pub fn of(work: &Work<'a>) -> Option<Self> {
        let program = work.program;
        let (&[y], [], []) = (
            &program.outputs[..],
            &program.leading_sums[..],
            &program.channel_sums[..],
        ) else {
            return None;
        };
        let (w, [a, b], sign) = match program.steps[y] {
            Step::MulAdd(w, a, b) => (w, [a, b], 1.0),
            Step::MulSub(w, a, b) => (w, [a, b], -1.0),
            _ => return None,
        };
        let replaced = |operand: usize| matches!(work.operands[operand], Source::Output(0));
        if !matches!(program.steps[w], Step::Operand(moved) if replaced(moved)) {
            return None;
        }
        let values = |operand: usize| match work.operands[operand] {
            Source::Operand(values) => Some(values),
            _ => None,
        };
        let is_full = |operand: usize| work.broadcasts[operand].is_full(work.dims.len);
        let whole = |operand: usize| values(operand).filter(|_| is_full(operand));
        let number = |operand: usize| match values(operand) {
            Some(&[number]) => Some(number),
            _ => None,
        };
        // The other operand, where a factor is one or the distance to one.
        let direction = |d: usize| match (program.steps[d], &program.sums[..]) {
            (Step::Operand(d), []) => Some((whole(d)?, false)),
            (Step::Binary(Binary::Sub, from, target), &[Sum::OfProduct(x, y)]) => {
                let Step::Operand(target) = program.steps[target] else {
                    return None;
                };
                let other = whole(target).filter(|_| [from, x, y] == [w, d, d])?;
                Some((other, true))
            }
            _ => None,
        };
        [(a, b), (b, a)].into_iter().find_map(|(factor, d)| {
            let (other, is_target) = direction(d)?;
            Some(Self {
                other,
                factor: sign * numbers(&program.steps, number)[factor]?,
                is_target,
            })
        })
    }

    /// Updates the block of `w` from element `start` on and returns its part of the sum, if there is one.
    #[inline(always)]
    pub fn block(&self, start: usize, w: &mut [f32]) -> Option<f32> {
        let other = &self.other[start..start + w.len()];
        if !self.is_target {
            for (w, d) in w.iter_mut().zip(other) {
                *w += self.factor * d;
            }
            return None;
        }
        let update = |w: &mut f32, target: f32| {
            let d = *w - target;
            *w += self.factor * d;
            d * d
        };
        let ((w, w_rest), (target, target_rest)) =
            (w.as_chunks_mut::<64>(), other.as_chunks::<64>());
        let mut lanes = [0.0f32; 64];
        for (w, target) in w.iter_mut().zip(target) {
            for ((lane, w), target) in lanes.iter_mut().zip(w).zip(target) {
                *lane += update(w, *target);
            }
        }
        let rest = w_rest.iter_mut().zip(target_rest);
        let rest: f32 = rest.map(|(w, target)| update(w, *target)).sum();
        Some(lanes::reduce(lanes, |a, b| a + b) + rest)
    }
}

/// The values of the steps that depend only on single numbers.
fn numbers(steps: &[Step], number: impl Fn(usize) -> Option<f32>) -> Vec<Option<f32>> {
    let mut values: Vec<Option<f32>> = Vec::with_capacity(steps.len());
    for step in steps {
        let value = match *step {
            Step::Operand(operand) => number(operand),
            Step::Constant(c) => Some(c),
            step if arguments(&step).all(|value| values[value].is_some()) => {
                let mut result = [0.0];
                let read = |value: usize| Values::All(values[value].unwrap_or_default());
                step.run(read, &mut result);
                Some(result[0])
            }
            _ => None,
        };
        values.push(value);
    }
    values
}

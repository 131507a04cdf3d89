//! Two common programs as single loops: the updates in place `w + c (w - w0)` with the sum `|w - w0|²`, and `w + c d`.
//!
//! FedProx computes the first one in every step for all parameters, and SCAFFOLD the second one. Computed step by step, every
//! intermediate value would be written to the first-level cache and read again, which takes longer than reading both tensors
//! from the second-level cache. The single loop gives the same results bit for bit.

use super::bound_program::{BoundProgram, Source};
use super::program::{Sum, arguments};
use super::step::{Binary, Step, Values};
use crate::lanes;

/// An update of a tensor `w` in place.
pub(super) struct Update<'a> {
    /// The direction `d`, or the target `w0`.
    other: &'a [f32],
    /// The factor `c`.
    factor: f32,
    /// Whether `other` is the target `w0`. Then the squared distance to it is summed.
    is_target: bool,
}

impl<'a> Update<'a> {
    /// Recognizes a program that is such an update and whose only output reuses the buffer of `w`.
    pub fn recognize(bound: &BoundProgram<'a>) -> Option<Self> {
        let program = bound.program;
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
        let is_reused = |operand: usize| matches!(bound.operands[operand], Source::Output(0));
        if !matches!(program.steps[w], Step::Operand(operand) if is_reused(operand)) {
            return None;
        }
        let values = |operand: usize| match bound.operands[operand] {
            Source::Operand(values) => Some(values),
            _ => None,
        };
        let is_full = |operand: usize| bound.broadcasts[operand].is_full(bound.dims.len);
        let full_values = |operand: usize| values(operand).filter(|_| is_full(operand));
        let scalar = |operand: usize| match values(operand) {
            Some(&[value]) => Some(value),
            _ => None,
        };
        // The other operand, and whether it is a target: `d` is a full operand and nothing is summed, or it is the
        // difference `w - w0` and its square is summed.
        let direction = |d: usize| match (program.steps[d], &program.sums[..]) {
            (Step::Operand(d), []) => Some((full_values(d)?, false)),
            (Step::Binary(Binary::Sub, from, target), &[Sum::Product(x, y)]) => {
                let Step::Operand(target) = program.steps[target] else {
                    return None;
                };
                let other = full_values(target).filter(|_| [from, x, y] == [w, d, d])?;
                Some((other, true))
            }
            _ => None,
        };
        // The factor and the direction may be in either order.
        [(a, b), (b, a)].into_iter().find_map(|(factor, d)| {
            let (other, is_target) = direction(d)?;
            Some(Self {
                other,
                factor: sign * scalar_values(&program.steps, scalar)[factor]?,
                is_target,
            })
        })
    }

    /// Updates a block of `w`, from element `start` on, and gives the sum over the block if there is a sum.
    #[inline(always)]
    pub fn run(&self, start: usize, w: &mut [f32]) -> Option<f32> {
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

/// The value of each step that depends on constants and scalar operands only; `None` for other steps. `scalar` gives the
/// value of a scalar operand.
fn scalar_values(steps: &[Step], scalar: impl Fn(usize) -> Option<f32>) -> Vec<Option<f32>> {
    let mut values: Vec<Option<f32>> = Vec::with_capacity(steps.len());
    for step in steps {
        let value = match *step {
            Step::Operand(operand) => scalar(operand),
            Step::Constant(c) => Some(c),
            step if arguments(&step).all(|value| values[value].is_some()) => {
                let mut result = [0.0];
                let read = |value: usize| Values::Scalar(values[value].unwrap_or_default());
                step.run(read, &mut result);
                Some(result[0])
            }
            _ => None,
        };
        values.push(value);
    }
    values
}

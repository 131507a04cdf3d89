//! `w + c (w - w0)` and `|w - w0|²`, a proximal update in place, in one loop.
//!
//! FedProx makes this update in every step, for all parameters. As separate steps of a program, every value
//! would be written to the first-level cache and read again, which takes longer than reading both tensors
//! from the second-level cache. The loop gives the same bits as the steps.

use super::program::{FusedProgram, Sum};
use super::step::{Binary, Step};
use crate::lanes;

/// The target of the pull, and its strength.
pub(super) struct Pull<'a> {
    anchor: &'a [f32],
    factor: f32,
}

impl<'a> Pull<'a> {
    /// Recognises a program that is a pull whose only output replaces `w`. `operand` gives an operand that has
    /// all elements and is not replaced, and `number` an operand that is a single number.
    pub fn of(
        program: &FusedProgram,
        replaced: impl Fn(usize) -> bool,
        operand: impl Fn(usize) -> Option<&'a [f32]>,
        number: &dyn Fn(usize) -> Option<f32>,
    ) -> Option<Self> {
        let (&[y], &[Sum::OfProduct(d, same)], []) = (
            &program.outputs[..],
            &program.sums[..],
            &program.leading_sums[..],
        ) else {
            return None;
        };
        let (w, factors, sign) = match program.steps[y] {
            Step::MulAdd(w, a, b) => (w, [a, b], 1.0),
            Step::MulSub(w, a, b) => (w, [a, b], -1.0),
            _ => return None,
        };
        let (Step::Binary(Binary::Sub, from, anchor), Step::Operand(moved)) =
            (program.steps[d], program.steps[w])
        else {
            return None;
        };
        let factor = match factors {
            [factor, by] | [by, factor] if by == d => factor,
            _ => return None,
        };
        if same != d || from != w || !replaced(moved) {
            return None;
        }
        let Step::Operand(anchor) = program.steps[anchor] else {
            return None;
        };
        Some(Self {
            anchor: operand(anchor)?,
            factor: sign * uniform(&program.steps, factor, number)?,
        })
    }

    /// Updates the block of `w` from element `start` on and returns its part of the sum.
    #[inline(always)]
    pub fn block(&self, start: usize, w: &mut [f32]) -> f32 {
        let anchor = &self.anchor[start..start + w.len()];
        let update = |w: &mut f32, anchor: f32| {
            let d = *w - anchor;
            *w += self.factor * d;
            d * d
        };
        let ((w, w_rest), (anchor, anchor_rest)) =
            (w.as_chunks_mut::<64>(), anchor.as_chunks::<64>());
        let mut lanes = [0.0f32; 64];
        for (w, anchor) in w.iter_mut().zip(anchor) {
            for ((lane, w), anchor) in lanes.iter_mut().zip(w).zip(anchor) {
                *lane += update(w, *anchor);
            }
        }
        let rest = w_rest.iter_mut().zip(anchor_rest);
        let rest: f32 = rest.map(|(w, anchor)| update(w, *anchor)).sum();
        lanes::reduce(lanes, |a, b| a + b) + rest
    }
}

/// The value of a step that depends only on single numbers.
fn uniform(steps: &[Step], value: usize, number: &dyn Fn(usize) -> Option<f32>) -> Option<f32> {
    let mut result = [0.0];
    match steps[value] {
        Step::Operand(operand) => return number(operand),
        Step::Constant(c) => return Some(c),
        Step::Unary(f, x) => f.run(&[uniform(steps, x, number)?], &mut result),
        Step::Binary(f, a, b) => {
            let (a, b) = (uniform(steps, a, number)?, uniform(steps, b, number)?);
            f.run(&[a], &[b], &mut result);
        }
        Step::MulAdd(..) | Step::MulSub(..) | Step::Select(..) => return None,
    }
    Some(result[0])
}
